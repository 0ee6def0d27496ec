// The texts of the audit trail, by route below `/v2` or `/v3`; another column has the result. Separate from the other texts, because only admins
// need them.
import { chosenWords } from '../language.ts';

const ENGLISH = {
  'POST account/tokens': (thing: string) => `Make the token ${thing}`,
  'DELETE account/tokens/{token_id}': (thing: string) => `Revoke the token ${thing}`,
  'PUT account/password': () => 'Change one’s own password',
  'DELETE operations/{operation_id}': () => 'Cancel a task',
  'POST projects': (_thing: string, lab: string) => `Make the lab ${lab}`,
  'POST projects/{project_id}/import': (_thing: string, lab: string) => `Import the lab ${lab}`,
  'POST projects/{project_id}/duplicate': (thing: string, lab: string) => `Duplicate the lab ${lab} as ${thing}`,
  'POST projects/load': (_thing: string, lab: string) => `Load the lab ${lab} from the disk`,
  'PUT projects/{project_id}': (_thing: string, lab: string) => `Change the settings of the lab ${lab}`,
  'DELETE projects/{project_id}': (_thing: string, lab: string) => `Delete the lab ${lab}`,
  'PUT projects/{project_id}/sharing': (_thing: string, lab: string) => `Share the lab ${lab} otherwise`,
  'POST projects/{project_id}/lock': (_thing: string, lab: string) => `Lock everything in the lab ${lab}`,
  'POST projects/{project_id}/unlock': (_thing: string, lab: string) => `Unlock everything in the lab ${lab}`,
  'POST projects/{project_id}/nodes/{node_id}/isolate': (node: string, lab: string) =>
    `Suspend all links of the node ${node} of the lab ${lab}`,
  'POST projects/{project_id}/nodes/{node_id}/unisolate': (node: string, lab: string) =>
    `Resume all links of the node ${node} of the lab ${lab}`,
  'POST projects/{project_id}/links/{link_id}/reset': (link: string, lab: string) =>
    `Reset the link ${link} of the lab ${lab}`,
  'POST projects/{project_id}/open': (_thing: string, lab: string) => `Open the lab ${lab}`,
  'POST projects/{project_id}/close': (_thing: string, lab: string) => `Close the lab ${lab}`,
  'POST projects/{project_id}/files/{path:.+}': (thing: string, lab: string) =>
    `Write the file ${thing} of the lab ${lab}`,
  'PUT projects/{project_id}/notes': (_thing: string, lab: string) => `Write the notes of the lab ${lab}`,
  'POST projects/{project_id}/snapshots': (thing: string, lab: string) =>
    `Make the snapshot ${thing} of the lab ${lab}`,
  'DELETE projects/{project_id}/snapshots/{snapshot_id}': (thing: string, lab: string) =>
    `Delete the snapshot ${thing} of the lab ${lab}`,
  'POST projects/{project_id}/snapshots/{snapshot_id}/restore': (thing: string, lab: string) =>
    `Restore the snapshot ${thing} of the lab ${lab}`,
  'POST projects/{project_id}/drawings': (thing: string, lab: string) => `Add the drawing ${thing} to the lab ${lab}`,
  'PUT projects/{project_id}/drawings/{drawing_id}': (thing: string, lab: string) =>
    `Change the drawing ${thing} of the lab ${lab}`,
  'DELETE projects/{project_id}/drawings/{drawing_id}': (thing: string, lab: string) =>
    `Delete the drawing ${thing} of the lab ${lab}`,
  'POST projects/{project_id}/links': (thing: string, lab: string) => `Add the link ${thing} to the lab ${lab}`,
  'PUT projects/{project_id}/links/{link_id}': (thing: string, lab: string) =>
    `Change the link ${thing} of the lab ${lab}`,
  'DELETE projects/{project_id}/links/{link_id}': (thing: string, lab: string) =>
    `Delete the link ${thing} of the lab ${lab}`,
  'POST projects/{project_id}/links/{link_id}/start_capture': (thing: string, lab: string) =>
    `Start a capture on the link ${thing} of the lab ${lab}`,
  'POST projects/{project_id}/links/{link_id}/stop_capture': (thing: string, lab: string) =>
    `Stop the capture on the link ${thing} of the lab ${lab}`,
  'POST projects/{project_id}/links/{link_id}/statistics/reset': (thing: string, lab: string) =>
    `Reset the counters of the link ${thing} of the lab ${lab}`,
  'POST projects/{project_id}/links/{link_id}/schedule': (thing: string, lab: string) =>
    `Start a schedule on the link ${thing} of the lab ${lab}`,
  'DELETE projects/{project_id}/links/{link_id}/schedule': (thing: string, lab: string) =>
    `End the schedule on the link ${thing} of the lab ${lab}`,
  'POST projects/{project_id}/templates/{template_id}': (thing: string, lab: string) =>
    `Add the node ${thing} of a template to the lab ${lab}`,
  'POST projects/{project_id}/nodes': (thing: string, lab: string) => `Add the node ${thing} to the lab ${lab}`,
  'POST projects/{project_id}/nodes/start': (_thing: string, lab: string) => `Start all nodes of the lab ${lab}`,
  'POST projects/{project_id}/nodes/stop': (_thing: string, lab: string) => `Stop all nodes of the lab ${lab}`,
  'POST projects/{project_id}/nodes/suspend': (_thing: string, lab: string) => `Suspend all nodes of the lab ${lab}`,
  'POST projects/{project_id}/nodes/reload': (_thing: string, lab: string) => `Reload all nodes of the lab ${lab}`,
  'POST projects/{project_id}/nodes/console/reset': (_thing: string, lab: string) =>
    `Reset all consoles of the lab ${lab}`,
  'POST projects/{project_id}/nodes/{node_id}/start': (thing: string, lab: string) =>
    `Start the node ${thing} of the lab ${lab}`,
  'POST projects/{project_id}/nodes/{node_id}/stop': (thing: string, lab: string) =>
    `Stop the node ${thing} of the lab ${lab}`,
  'POST projects/{project_id}/nodes/{node_id}/suspend': (thing: string, lab: string) =>
    `Suspend the node ${thing} of the lab ${lab}`,
  'POST projects/{project_id}/nodes/{node_id}/reload': (thing: string, lab: string) =>
    `Reload the node ${thing} of the lab ${lab}`,
  'POST projects/{project_id}/nodes/{node_id}/console/reset': (thing: string, lab: string) =>
    `Reset the console of the node ${thing} of the lab ${lab}`,
  'PUT projects/{project_id}/nodes/{node_id}': (thing: string, lab: string) =>
    `Change the node ${thing} of the lab ${lab}`,
  'DELETE projects/{project_id}/nodes/{node_id}': (thing: string, lab: string) =>
    `Delete the node ${thing} of the lab ${lab}`,
  'POST projects/{project_id}/deleted_nodes/{node_id}/restore': (thing: string, lab: string) =>
    `Restore the deleted node ${thing} of the lab ${lab}`,
  'POST projects/{project_id}/nodes/{node_id}/duplicate': (thing: string, lab: string) =>
    `Duplicate a node of the lab ${lab} as ${thing}`,
  'DELETE projects/{project_id}/nodes/{node_id}/mac_table': (thing: string, lab: string) =>
    `Clear the addresses that the node ${thing} of the lab ${lab} has learned`,
  'POST projects/{project_id}/nodes/{node_id}/files/{path:.+}': (thing: string, lab: string) =>
    `Write a file of the node ${thing} of the lab ${lab}`,
  'POST projects/{project_id}/placement': (_thing: string, lab: string) =>
    `Plan where nodes of the lab ${lab} would run`,
  'POST projects/{project_id}/nodes/{node_id}/disks/{disk_name}': (thing: string, lab: string) =>
    `Create a disk image for the node ${thing} of the lab ${lab}`,
  'PUT projects/{project_id}/nodes/{node_id}/disks/{disk_name}': (thing: string, lab: string) =>
    `Extend a disk image of the node ${thing} of the lab ${lab}`,
  'DELETE projects/{project_id}/nodes/{node_id}/disks/{disk_name}': (thing: string, lab: string) =>
    `Delete a disk image of the node ${thing} of the lab ${lab}`,
  'POST projects/{project_id}/nodes/{node_id}/resize_disk': (thing: string, lab: string) =>
    `Resize a disk of the node ${thing} of the lab ${lab}`,
  'GET projects/{project_id}/nodes/{node_id}/console/ws': (thing: string, lab: string) =>
    `Type at the console of the node ${thing} of the lab ${lab}`,
  'GET projects/{project_id}/nodes/{node_id}/aux/ws': (thing: string, lab: string) =>
    `Type at the auxiliary console of the node ${thing} of the lab ${lab}`,
  'GET projects/{project_id}/nodes/{node_id}/console/vnc': (thing: string, lab: string) =>
    `Work at the display of the node ${thing} of the lab ${lab}`,
  'POST accounts': (thing: string) => `Add the account ${thing}`,
  'PUT accounts/{name}': (thing: string) => `Change the account ${thing}`,
  'DELETE accounts/{name}': (thing: string) => `Remove the account ${thing}`,
  'POST groups': (thing: string) => `Add the group ${thing}`,
  'PUT groups/{name}': (thing: string) => `Change the group ${thing}`,
  'DELETE groups/{name}': (thing: string) => `Remove the group ${thing}`,
  'PUT access/users/me': () => 'Change one’s own account',
  'POST access/users': (thing: string) => `Add the account ${thing}`,
  'PUT access/users/{user_id}': (thing: string) => `Change the account ${thing}`,
  'DELETE access/users/{user_id}': (thing: string) => `Remove the account ${thing}`,
  'POST access/groups': (thing: string) => `Add the group ${thing}`,
  'PUT access/groups/{user_group_id}': (thing: string) => `Change the group ${thing}`,
  'DELETE access/groups/{user_group_id}': (thing: string) => `Remove the group ${thing}`,
  'PUT access/groups/{user_group_id}/members/{user_id}': (thing: string) => `Add the account ${thing} to a group`,
  'DELETE access/groups/{user_group_id}/members/{user_id}': (thing: string) =>
    `Remove the account ${thing} from a group`,
  'POST access/roles': (thing: string) => `Add the role ${thing}`,
  'PUT access/roles/{role_id}': (thing: string) => `Change the role ${thing}`,
  'DELETE access/roles/{role_id}': (thing: string) => `Remove the role ${thing}`,
  'PUT access/roles/{role_id}/privileges/{privilege_id}': (thing: string) => `Add a privilege to the role ${thing}`,
  'DELETE access/roles/{role_id}/privileges/{privilege_id}': (thing: string) =>
    `Take a privilege from the role ${thing}`,
  'POST access/acl': (thing: string) => `Add an entry to the access list for ${thing}`,
  'PUT access/acl/{ace_id}': (thing: string) => `Change the entry of the access list for ${thing}`,
  'DELETE access/acl/{ace_id}': (thing: string) => `Remove the entry ${thing} of the access list`,
  'POST pools': (thing: string) => `Add the pool ${thing}`,
  'PUT pools/{resource_pool_id}': (thing: string) => `Change the pool ${thing}`,
  'DELETE pools/{resource_pool_id}': (thing: string) => `Remove the pool ${thing}`,
  'PUT pools/{resource_pool_id}/resources/{resource_id}': (thing: string) => `Put a lab into the pool ${thing}`,
  'DELETE pools/{resource_pool_id}/resources/{resource_id}': (thing: string) => `Take a lab out of the pool ${thing}`,
  'PUT iou_license': () => 'Change the IOU licence',
  'PUT gns3vm': () => 'Change the settings of the GNS3 VM',
  'POST appliances/{appliance_id}/template': (thing: string) => `Make the template ${thing} of an appliance`,
  'POST computes': (thing: string) => `Add the host ${thing}`,
  'PUT computes/{compute_id}': (thing: string) => `Change the host ${thing}`,
  'DELETE computes/{compute_id}': (thing: string) => `Remove the host ${thing}`,
  'POST computes/{compute_id}/drain': (thing: string) => `Drain the host ${thing}`,
  'POST computes/{compute_id}/undrain': (thing: string) => `Let the host ${thing} take nodes again`,
  'POST placement': () => 'Plan where nodes of a lab would run',
  'POST computes/{compute_id}/auto_idlepc': (thing: string) => `Search for an idle value on the host ${thing}`,
  'DELETE computes/{compute_id}/{emulator}/images/{filename:.+}': (thing: string) => `Delete the image ${thing}`,
  'DELETE computes/{compute_id}/{emulator}/uploads/{upload_id}': () => 'Cancel the upload of an image',
  'POST computes/{compute_id}/{emulator}/{action:.+}': (thing: string) => `Upload or make ${thing} on a host`,
  'PUT computes/{compute_id}/{emulator}/{action:.+}': (thing: string) => `Change ${thing} on a host`,
  'POST symbols/{symbol_id:.+}/raw': (thing: string) => `Add the symbol ${thing}`,
  'POST templates': (thing: string) => `Make the template ${thing}`,
  'PUT templates/{template_id}': (thing: string) => `Change the template ${thing}`,
  'DELETE templates/{template_id}': (thing: string) => `Delete the template ${thing}`,
  'POST templates/{template_id}/duplicate': (thing: string) => `Duplicate a template as ${thing}`,
  'POST shutdown': () => 'Shut the server down',
  'POST debug': () => 'Write a report for debugging',
  'POST reload': () => 'Restart the server',
  // Release 3.0.6 has these at other addresses.
  'POST projects/{project_id}/links/{link_id}/capture/start': (thing: string, lab: string) =>
    `Start a capture on the link ${thing} of the lab ${lab}`,
  'POST projects/{project_id}/links/{link_id}/capture/stop': (thing: string, lab: string) =>
    `Stop the capture on the link ${thing} of the lab ${lab}`,
  'POST projects/{project_id}/nodes/{node_id}/qemu/disk_image/{disk_name}': (thing: string, lab: string) =>
    `Create a disk image for the node ${thing} of the lab ${lab}`,
  'PUT projects/{project_id}/nodes/{node_id}/qemu/disk_image/{disk_name}': (thing: string, lab: string) =>
    `Extend a disk image of the node ${thing} of the lab ${lab}`,
  'DELETE projects/{project_id}/nodes/{node_id}/qemu/disk_image/{disk_name}': (thing: string, lab: string) =>
    `Delete a disk image of the node ${thing} of the lab ${lab}`,
  'GET projects/{project_id}/nodes/{node_id}/dynamips/auto_idlepc': (thing: string, lab: string) =>
    `Search for an idle value for the node ${thing} of the lab ${lab}`,
  'GET projects/{project_id}/nodes/{node_id}/dynamips/idlepc_proposals': (thing: string, lab: string) =>
    `List idle values for the node ${thing} of the lab ${lab}`,
  'POST computes/{compute_id}/dynamips/auto_idlepc': (thing: string) => `Search for an idle value on the host ${thing}`,
  'POST computes/{compute_id}/connect': (thing: string) => `Connect to the host ${thing}`,
  'POST appliances/{appliance_id}/install': (thing: string) => `Make a template of the appliance ${thing}`,
  'POST appliances/{appliance_id}/version': (thing: string) => `Add a version to the appliance ${thing}`,
  'POST images/install': () => 'Make templates of appliances whose images are complete',
  'POST images/qemu/{path:.+}': (thing: string) => `Create the disk image ${thing}`,
  'POST images/upload/{path:.+}': (thing: string) => `Upload the image ${thing}`,
  'DELETE images/prune': () => 'Delete all images that nothing uses',
  'DELETE images/{path:.+}': (thing: string) => `Delete the image ${thing}`,
} as const;

/** By method and path: a sentence about the object and the lab. */
export type AuditWords = Readonly<Record<string, (thing: string, lab: string) => string>>;

export const AUDIT_WORDS: AuditWords = chosenWords<AuditWords>('auditWords', ENGLISH);
