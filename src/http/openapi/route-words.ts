// Route texts for the OpenAPI document, in a separate file that is loaded only for it. `{node_type}` stands for each kind of node with the
// same route, `{emulator}` for those with images. Routes of one kind define their own texts.

import type { Route, RouteWords } from '../app/route.ts';

const EMPTY = '';
const STREAM = 'application/json';
const LOAD_OF_NODES = { nodes: 'A project: the answer has the load of its nodes, too (an extension)' };
const WINDOW = {
  cols: 'Columns of the window (an extension): with cols and rows text messages are control messages, and input is binary',
  rows: 'Rows of the window (an extension)',
};
const PCAP = 'application/vnd.tcpdump.pcap';
const LAST = { last: 'Begin, behind the header, about so many bytes before the end (an extension)' };

export const ROUTE_WORDS: Readonly<Record<string, RouteWords>> = {
  'GET /v2/version': { summary: 'Release that this server speaks' },
  'POST /v2/version': { summary: 'Check that a client is of the same release' },
  'GET /v2/statistics': { summary: 'Load of all computes', errors: [404, 409], query: LOAD_OF_NODES },
  'POST /v2/shutdown': { summary: 'Stop the server (local mode only)', answer: EMPTY },
  'POST /v2/reload': { summary: 'Look for projects on the disk again' },
  'POST /v2/debug': { summary: 'Write a report for people who help with problems (local mode only)', answer: EMPTY },
  'GET /v2/openapi.json': { summary: 'This document', query: { path: 'Only what it says of this path' } },
  'GET /v2/notifications': { summary: 'Notification stream of the controller, a line per event', answer: STREAM },
  'GET /v2/notifications/ws': { summary: 'Notification stream of the controller' },
  'GET /v2/project-sharing': { summary: 'The owner of each lab, and what the client may do with it (an extension)' },
  'GET /v2/project-figures': { summary: 'Nodes of each open project, and how many run (an extension)' },
  'GET /v2/project-changes': { summary: 'When each project was changed last (an extension)' },
  'GET /v2/operations': {
    summary: 'List long work under way on this server and its computes (an extension)',
    query: { project_id: 'Only that of this project' },
  },
  'DELETE /v2/operations/{operation_id}': { summary: 'Cancel long work (an extension)', errors: [404, 409] },
  'GET /v2/compute/operations': { summary: 'List long work under way on this compute (an extension)' },
  'DELETE /v2/compute/operations/{operation_id}': {
    summary: 'Cancel long work of this compute (an extension)',
    errors: [404, 409],
  },
  'GET /v2/account': { summary: 'Who is logged in, and as what (an extension)' },
  'PUT /v2/account/password': { summary: 'Change the password of who is logged in (an extension)', errors: [403, 409] },
  'GET /v2/account/tokens': {
    summary: 'List the tokens of who is logged in (an extension)',
    query: { account: 'Those of this account; admins' },
    errors: [403, 404, 409],
  },
  'POST /v2/account/tokens': {
    summary: 'Create a token for a program; its text is answered this once (an extension)',
    errors: [403, 404, 409],
  },
  'DELETE /v2/account/tokens/{token_id}': { summary: 'Revoke a token (an extension)', errors: [404, 409] },
  'GET /v2/accounts': { summary: 'List accounts (an extension)' },
  'POST /v2/accounts': { summary: 'Create an account (an extension; admins)', errors: [403, 409] },
  'PUT /v2/accounts/{name}': {
    summary: 'Change role or password of an account (an extension; admins)',
    errors: [403, 404, 409],
  },
  'DELETE /v2/accounts/{name}': { summary: 'Delete an account (an extension; admins)', errors: [403, 404, 409] },
  'GET /v2/groups': { summary: 'List groups of accounts (an extension)' },
  'POST /v2/groups': { summary: 'Create a group of accounts (an extension; admins)', errors: [403, 409] },
  'PUT /v2/groups/{name}': {
    summary: 'Rename a group, add and remove accounts (an extension; admins)',
    errors: [403, 404, 409],
  },
  'DELETE /v2/groups/{name}': { summary: 'Delete a group (an extension; admins)', errors: [403, 404, 409] },
  'GET /v2/projects/{project_id}/sharing': {
    summary: 'The owner of a project, and the accounts with which it is shared (an extension)',
    errors: [404],
  },
  'PUT /v2/projects/{project_id}/sharing': {
    summary: 'Share a project, or give it to another account (an extension; its owner and admins)',
    errors: [403, 404, 409],
  },
  'GET /v2/audit': {
    summary: 'Last lines of the audit trail (an extension; admins)',
    errors: [403],
    query: {
      last: 'How many lines, 200 unless given',
      account: 'Only what this account did',
      project: 'Only what was done to the lab of this name or id',
    },
  },
  'GET /v2/iou_license': { summary: 'Read the IOU licence' },
  'PUT /v2/iou_license': { summary: 'Update the IOU licence' },
  'GET /v2/gns3vm': { summary: 'Read the settings of the GNS3 VM' },
  'PUT /v2/gns3vm': { summary: 'Update the settings of the GNS3 VM' },
  'GET /v2/gns3vm/engines': { summary: 'List engines of the GNS3 VM' },
  'GET /v2/gns3vm/engines/{engine}/vms': { summary: 'List virtual machines of an engine' },
  'GET /v2/appliances': {
    summary: 'List appliances',
    errors: [404, 409],
    query: { update: 'yes: fetch the list again (refused)', symbol_theme: 'Theme that symbols are taken from' },
  },
  'GET /v2/appliances/matches': {
    summary: 'List versions of appliances that the images of a compute are for',
    errors: [404, 409],
    query: {
      compute_id: 'Compute whose images are looked at; local by default',
      complete: 'yes: only those that miss nothing',
      all: 'yes: also those of which nothing is there',
    },
  },
  'POST /v2/appliances/{appliance_id}/template': { summary: 'Create a template of an appliance', errors: [404, 409] },

  'POST /v2/computes': { summary: 'Create a compute' },
  'GET /v2/computes': { summary: 'List computes' },
  'GET /v2/computes/endpoint/{compute_id}/{emulator}/{action:.+}': {
    summary: 'Endpoint call on a compute for an emulator',
    answer: 'application/json',
  },
  'PUT /v2/computes/{compute_id}': { summary: 'Update a compute' },
  'GET /v2/computes/{compute_id}': { summary: 'Read a compute' },
  'DELETE /v2/computes/{compute_id}': { summary: 'Delete a compute' },
  'POST /v2/computes/{compute_id}/drain': {
    summary: 'Take no new nodes on a host, and move its nodes to other hosts (an extension; admins)',
    errors: [404, 409],
  },
  'POST /v2/computes/{compute_id}/undrain': {
    summary: 'Take new nodes on a host again (an extension; admins)',
    errors: [404, 409],
  },
  'POST /v2/placement': {
    summary: 'Where the nodes of a lab would be placed, and why (an extension)',
    errors: [404, 409],
  },
  'POST /v2/projects/{project_id}/placement': {
    summary:
      'Where new nodes of a lab are to be placed, and why; holds for nodes created with these ids (an extension)',
    errors: [404, 409],
  },
  'GET /v2/projects/{project_id}/placement': {
    summary: 'The host of each node, and why it was chosen (an extension)',
    errors: [404],
  },
  'POST /v2/computes/{compute_id}/auto_idlepc': { summary: 'Automatic idle-value search on a compute', errors: [408] },
  'GET /v2/computes/{compute_id}/images': {
    summary: 'List images of a compute with the nodes and templates that use them (an extension)',
    errors: [409],
  },
  'GET /v2/computes/{compute_id}/{emulator}/images/{filename:.+}': {
    summary: 'Download an image of a compute, or with Range a part of it (an extension)',
    errors: [404, 408, 409],
  },
  'DELETE /v2/computes/{compute_id}/{emulator}/images/{filename:.+}': {
    summary: 'Delete an image that no node and no template uses (an extension)',
    errors: [403, 409],
  },
  'DELETE /v2/computes/{compute_id}/{emulator}/uploads/{upload_id}': {
    summary: 'Cancel the upload of an image (an extension)',
    errors: [409],
  },
  'GET /v2/computes/{compute_id}/{emulator}/{action:.+}': { summary: 'Forwarded call', errors: [400, 408, 409, 503] },
  'POST /v2/computes/{compute_id}/{emulator}/{action:.+}': {
    summary: 'Forwarded call',
    errors: [400, 408, 503, 507],
    answer: 'application/json',
  },
  'PUT /v2/computes/{compute_id}/{emulator}/{action:.+}': {
    summary: 'Forwarded call',
    errors: [400, 408, 503, 507],
    answer: 'application/json',
  },
  'GET /v2/computes/{compute_id}/{emulator}/images': {
    summary: 'List images of an emulator on a compute',
    errors: [408, 409],
  },
  'GET /v2/computes/{compute_id}/ports': { summary: 'List ports of a compute', errors: [408, 409] },

  'GET /v2/projects': { summary: 'List projects' },
  'POST /v2/projects': { summary: 'Create a project' },
  'POST /v2/projects/load': { summary: 'Open a project by the path of its file (local mode only)', errors: [404] },
  'GET /v2/projects/{project_id}': { summary: 'Read a project' },
  'PUT /v2/projects/{project_id}': { summary: 'Update a project' },
  'DELETE /v2/projects/{project_id}': { summary: 'Delete a project and its files' },
  'GET /v2/projects/{project_id}/stats': { summary: 'Count what is in a project' },
  'GET /v2/projects/{project_id}/notes': {
    summary: 'Read the notes of a lab, the text of its README.txt (an extension)',
  },
  'PUT /v2/projects/{project_id}/notes': { summary: 'Write the notes of a lab (an extension)' },
  'GET /v2/projects/{project_id}/thumbnail': {
    summary: 'A small picture of the map of a lab, open or closed (an extension)',
    errors: [404, 409],
    answer: 'image/svg+xml',
  },
  'GET /v2/projects/{project_id}/journal': {
    summary: 'Read the journal of a lab: its last 500 messages and changes of state (an extension)',
    query: { node_id: 'Only what is about this node' },
  },
  'GET /v2/projects/{project_id}/journal/stream': {
    summary: 'The same, and then each entry as it is made, a line of JSON each (an extension)',
    query: { node_id: 'Only what is about this node' },
    answer: STREAM,
  },
  'POST /v2/projects/{project_id}/open': { summary: 'Open a project' },
  'POST /v2/projects/{project_id}/close': { summary: 'Close a project' },
  'GET /v2/projects/{project_id}/files/{path:.+}': { summary: 'Get a file from a project' },
  'POST /v2/projects/{project_id}/files/{path:.+}': {
    summary: 'Write a file to a project',
    errors: [408, 507],
    answer: EMPTY,
  },
  'GET /v2/projects/{project_id}/notifications': {
    summary: 'Notification stream of a project, a line per event',
    answer: STREAM,
  },
  'GET /v2/projects/{project_id}/notifications/ws': { summary: 'Notification stream of a project' },
  'GET /v2/projects/{project_id}/export': {
    summary: 'Export a project as an archive',
    errors: [400, 409],
    query: {
      compression: 'zip (default) or none',
      include_images: 'yes: with the images of its nodes',
      include_snapshots: 'yes: with its snapshots',
      reset_mac_addresses: 'yes: without MAC addresses, so that the copy gets its own',
      keep_compute_ids: 'yes: with the computes of its nodes',
    },
    answer: 'application/gns3project',
  },
  'POST /v2/projects/{project_id}/import': {
    summary: 'Import a project from an archive',
    errors: [400, 408, 413, 507],
    query: {
      name: 'Name of the project',
      path: 'Directory of the project (local mode only)',
      reset_mac_addresses: 'yes: without the MAC addresses of the archive, so that nodes get new ones (an extension)',
    },
    answer: 'application/json',
  },
  'POST /v2/projects/{project_id}/duplicate': { summary: 'Duplicate a project', errors: [507] },

  'POST /v2/projects/{project_id}/snapshots': { summary: 'Create a snapshot', errors: [507] },
  'GET /v2/projects/{project_id}/snapshots': { summary: 'List snapshots' },
  'DELETE /v2/projects/{project_id}/snapshots/{snapshot_id}': { summary: 'Delete a snapshot' },
  'POST /v2/projects/{project_id}/snapshots/{snapshot_id}/restore': { summary: 'Restore a snapshot', errors: [507] },

  'GET /v2/projects/{project_id}/nodes': { summary: 'List nodes of a project' },
  'POST /v2/projects/{project_id}/nodes': { summary: 'Create a node' },
  'POST /v2/projects/{project_id}/nodes/start': { summary: 'Start all nodes of a project' },
  'POST /v2/projects/{project_id}/nodes/stop': { summary: 'Stop all nodes of a project' },
  'POST /v2/projects/{project_id}/nodes/suspend': { summary: 'Suspend all nodes of a project' },
  'POST /v2/projects/{project_id}/nodes/reload': { summary: 'Reload all nodes of a project' },
  'POST /v2/projects/{project_id}/nodes/console/reset': { summary: 'Reset the consoles of all nodes of a project' },
  'GET /v2/projects/{project_id}/nodes/{node_id}': { summary: 'Read a node' },
  'PUT /v2/projects/{project_id}/nodes/{node_id}': { summary: 'Update a node, or move it to another host' },
  'DELETE /v2/projects/{project_id}/nodes/{node_id}': {
    summary: 'Delete a node',
    query: { keep: 'yes: keeps it for an hour, and answers 200 with `until` if its files are kept (an extension)' },
  },
  'GET /v2/projects/{project_id}/deleted_nodes': { summary: 'List deleted nodes that are kept (an extension)' },
  'POST /v2/projects/{project_id}/deleted_nodes/{node_id}/restore': {
    summary: 'Restore a deleted node with its files and links (an extension)',
  },
  'POST /v2/projects/{project_id}/nodes/{node_id}/duplicate': { summary: 'Duplicate a node' },
  'POST /v2/projects/{project_id}/nodes/{node_id}/start': { summary: 'Start a node', errors: [408] },
  'POST /v2/projects/{project_id}/nodes/{node_id}/stop': { summary: 'Stop a node', errors: [408] },
  'POST /v2/projects/{project_id}/nodes/{node_id}/suspend': { summary: 'Suspend a node', errors: [408] },
  'POST /v2/projects/{project_id}/nodes/{node_id}/reload': { summary: 'Reload a node', errors: [408] },
  'GET /v2/projects/{project_id}/nodes/{node_id}/mac_table': {
    summary: 'List the MAC addresses that an Ethernet switch has learned',
  },
  'DELETE /v2/projects/{project_id}/nodes/{node_id}/mac_table': {
    summary: 'Have an Ethernet switch forget its MAC addresses',
    answer: EMPTY,
  },
  'GET /v2/projects/{project_id}/nodes/{node_id}/disk_use': { summary: "Disk space of a node's files" },
  'GET /v2/projects/{project_id}/nodes/{node_id}/links': { summary: 'List links of a node' },
  'POST /v2/projects/{project_id}/nodes/{node_id}/isolate': { summary: 'Suspend all links of a node (an extension)' },
  'POST /v2/projects/{project_id}/nodes/{node_id}/unisolate': {
    summary: 'End the suspension of all links of a node (an extension)',
  },
  'POST /v2/projects/{project_id}/nodes/{node_id}/console/reset': { summary: 'Reset the console of a node' },
  'GET /v2/projects/{project_id}/nodes/{node_id}/console/ws': { summary: 'Console of a node', query: WINDOW },
  'GET /v2/projects/{project_id}/nodes/{node_id}/aux/ws': {
    summary: 'Auxiliary console of a node (an extension)',
    query: WINDOW,
  },
  'GET /v2/projects/{project_id}/nodes/{node_id}/console/vnc': {
    summary: 'VNC display of a node, in binary messages (an extension)',
  },
  'GET /v2/projects/{project_id}/nodes/{node_id}/files/{path:.+}': { summary: 'Get a file of a node', errors: [409] },
  'POST /v2/projects/{project_id}/nodes/{node_id}/files/{path:.+}': {
    summary: 'Write a file of a node',
    errors: [408, 507],
    answer: EMPTY,
  },

  'GET /v2/projects/{project_id}/links': { summary: 'List links of a project' },
  'POST /v2/projects/{project_id}/links': { summary: 'Create a link' },
  'GET /v2/projects/{project_id}/links/{link_id}': { summary: 'Read a link' },
  'PUT /v2/projects/{project_id}/links/{link_id}': { summary: 'Update a link' },
  'DELETE /v2/projects/{project_id}/links/{link_id}': { summary: 'Delete a link' },
  'GET /v2/projects/{project_id}/links/{link_id}/available_filters': {
    summary: 'List filters available for the link',
  },
  'GET /v2/impairments/presets': { summary: 'List presets of impairments (an extension)' },
  'GET /v2/projects/{project_id}/links/{link_id}/statistics': {
    summary: 'What was seen of the link, by direction (an extension)',
    errors: [409],
  },
  'POST /v2/projects/{project_id}/links/{link_id}/statistics/reset': {
    summary: 'Start counting what passes the link from zero (an extension)',
  },
  'GET /v2/projects/{project_id}/links/{link_id}/schedule': {
    summary: 'State of the schedule of impairments (an extension)',
    errors: [409],
  },
  'POST /v2/projects/{project_id}/links/{link_id}/schedule': {
    summary: 'Start a schedule of impairments (an extension)',
  },
  'DELETE /v2/projects/{project_id}/links/{link_id}/schedule': {
    summary: 'Cancel the schedule of impairments (an extension)',
  },
  'GET /v2/projects/{project_id}/links/{link_id}/pcap': {
    summary: 'Fetch the capture of the link',
    errors: [409],
    query: LAST,
    answer: PCAP,
  },
  'GET /v2/projects/{project_id}/links/{link_id}/pcap/ws': {
    summary: 'The capture of the link as binary messages, and its figures as text (an extension)',
    errors: [409],
    query: LAST,
  },
  'GET /v2/projects/{project_id}/links/statistics/ws': {
    summary: 'Counters of all links, and then of those that changed (an extension)',
    errors: [403],
    query: { interval: 'Milliseconds between two messages, 200 to 60,000; 1,000 by default' },
  },
  'GET /v2/projects/{project_id}/captures': { summary: 'List capture files of a project (an extension)' },
  'GET /v2/projects/{project_id}/captures/{name}': {
    summary: 'A capture file of a project, from the host that writes it (an extension)',
    errors: [409],
  },
  'GET /v2/projects/{project_id}/merged-captures': {
    summary: 'The captures of a project as one file of pcapng, by time (an extension)',
    errors: [404, 409],
    query: { links: 'Only those of these links: identifiers with commas between them' },
  },
  'POST /v2/projects/{project_id}/links/{link_id}/reset': {
    summary: 'Wire both ends of a link again (an extension)',
    errors: [409],
  },
  'GET /v2/projects/{project_id}/links/{link_id}/iface': {
    summary: 'The interface or UDP tunnel of a cloud or NAT that the link leads to (an extension)',
    errors: [409],
  },
  'POST /v2/projects/{project_id}/links/{link_id}/start_capture': { summary: 'Start capture on the link' },
  'POST /v2/projects/{project_id}/links/{link_id}/stop_capture': { summary: 'Stop capture on the link' },

  'GET /v2/projects/{project_id}/locked': { summary: 'Whether all nodes and drawings are locked (an extension)' },
  'POST /v2/projects/{project_id}/lock': { summary: 'Lock all nodes and drawings (an extension)' },
  'POST /v2/projects/{project_id}/unlock': { summary: 'Unlock all nodes and drawings (an extension)' },

  'GET /v2/projects/{project_id}/drawings': { summary: 'List drawings of a project' },
  'POST /v2/projects/{project_id}/drawings': { summary: 'Create a drawing' },
  'GET /v2/projects/{project_id}/drawings/{drawing_id}': { summary: 'Read a drawing' },
  'PUT /v2/projects/{project_id}/drawings/{drawing_id}': { summary: 'Update a drawing' },
  'DELETE /v2/projects/{project_id}/drawings/{drawing_id}': { summary: 'Delete a drawing' },

  'GET /v2/symbols': { summary: 'List symbols' },
  'GET /v2/default_symbols': { summary: 'List the symbols of each theme' },
  'GET /v2/symbols/{symbol_id:.+}/raw': { summary: 'Get the symbol file', answer: 'image/*' },
  'GET /v2/symbols/{symbol_id:.+}/dimensions': { summary: 'Size of a symbol', answer: 'application/json' },
  'POST /v2/symbols/{symbol_id:.+}/raw': {
    summary: 'Write the symbol file',
    errors: [400, 408, 413, 507],
    answer: EMPTY,
  },

  'POST /v2/projects/{project_id}/templates/{template_id}': {
    summary: 'Create an instance of a template in a project',
  },
  'POST /v2/templates': { summary: 'Create a template' },
  'GET /v2/templates': { summary: 'List templates' },
  'GET /v2/templates/{template_id}': { summary: 'Read a template', errors: [304] },
  'PUT /v2/templates/{template_id}': { summary: 'Update a template' },
  'DELETE /v2/templates/{template_id}': { summary: 'Delete a template' },
  'POST /v2/templates/{template_id}/duplicate': { summary: 'Duplicate a template' },

  'GET /v2/compute/version': { summary: 'Release that this compute speaks' },
  'GET /v2/compute/capabilities': { summary: 'What this compute can run' },
  'GET /v2/compute/statistics': {
    summary: 'Load of this host',
    query: { ...LOAD_OF_NODES, processors: 'yes: the answer has the number of processors, too (an extension)' },
  },
  'GET /v2/compute/debug': { summary: 'Report for people who help with problems', answer: 'text/plain' },
  'GET /v2/compute/notifications/ws': { summary: 'Notification stream of a compute, for controllers' },
  'GET /v2/compute/network/interfaces': { summary: 'List network interfaces of this host' },
  'GET /v2/compute/network/ports': { summary: 'List ports in use by this compute' },
  'POST /v2/compute/projects/{project_id}/ports/udp': { summary: 'Reserve a UDP port for a link' },
  'DELETE /v2/compute/projects/{project_id}/ports/udp/{udp_port:\\d+}': {
    summary: 'Give back a UDP port that was reserved and is not used',
  },
  'GET /v2/compute/projects': { summary: 'List projects' },
  'POST /v2/compute/projects': { summary: 'Create a project', errors: [507] },
  'PUT /v2/compute/projects/{project_id}': { summary: 'Update a project' },
  'GET /v2/compute/projects/{project_id}': { summary: 'Read a project' },
  'DELETE /v2/compute/projects/{project_id}': { summary: 'Delete a project' },
  'POST /v2/compute/projects/{project_id}/close': { summary: 'Close a project' },
  'GET /v2/compute/projects/{project_id}/files': { summary: 'List files of a project' },
  'GET /v2/compute/projects/{project_id}/files/{path:.+}': { summary: 'Get a file from a project', errors: [409] },
  'POST /v2/compute/projects/{project_id}/files/{path:.+}': {
    summary: 'Write a file to a project',
    errors: [408, 507],
    answer: EMPTY,
  },
  'GET /v2/compute/projects/{project_id}/notifications': {
    summary: 'Notification stream of a project',
    answer: STREAM,
  },
  'GET /v2/compute/{emulator}/images': { summary: 'List images of an emulator' },
  'POST /v2/compute/{emulator}/images/{filename:.+}': { summary: 'Upload an image', errors: [408, 507] },
  'GET /v2/compute/{emulator}/images/{filename:.+}': { summary: 'Download an image', errors: [409] },
  'DELETE /v2/compute/{emulator}/images/{filename:.+}': {
    summary: 'Delete an image that no node of this compute uses (an extension)',
    errors: [403, 404, 409],
  },
  'PUT /v2/compute/{emulator}/uploads/{upload_id}': {
    summary: 'Begin the upload of an image in pieces (an extension)',
    errors: [403, 409, 503, 507],
  },
  'GET /v2/compute/{emulator}/uploads/{upload_id}': { summary: 'How much of an upload is here (an extension)' },
  'POST /v2/compute/{emulator}/uploads/{upload_id}/{offset:\\d+}': {
    summary: 'Send a piece of an image, from a byte on (an extension)',
    errors: [408, 409, 507],
    answer: 'application/json',
  },
  'DELETE /v2/compute/{emulator}/uploads/{upload_id}': { summary: 'Cancel the upload of an image (an extension)' },

  'POST /v2/compute/projects/{project_id}/{node_type}/nodes': { summary: 'Create a node' },
  'GET /v2/compute/projects/{project_id}/{node_type}/nodes/{node_id}': { summary: 'Read a node' },
  'PUT /v2/compute/projects/{project_id}/{node_type}/nodes/{node_id}': { summary: 'Update a node' },
  'DELETE /v2/compute/projects/{project_id}/{node_type}/nodes/{node_id}': { summary: 'Delete a node' },
  'POST /v2/compute/projects/{project_id}/{node_type}/nodes/{node_id}/start': { summary: 'Start a node' },
  'POST /v2/compute/projects/{project_id}/{node_type}/nodes/{node_id}/stop': { summary: 'Stop a node' },
  'POST /v2/compute/projects/{project_id}/{node_type}/nodes/{node_id}/suspend': { summary: 'Suspend a node' },
  'POST /v2/compute/projects/{project_id}/{node_type}/nodes/{node_id}/resume': { summary: 'Resume a suspended node' },
  'POST /v2/compute/projects/{project_id}/{node_type}/nodes/{node_id}/state': {
    summary: 'Keep what a running node is doing in its files, and have it stand still (an extension)',
  },
  'DELETE /v2/compute/projects/{project_id}/{node_type}/nodes/{node_id}/state': {
    summary: 'Drop what was kept of a running node, and have it go on (an extension)',
  },
  'POST /v2/compute/projects/{project_id}/{node_type}/nodes/{node_id}/state/start': {
    summary: 'Start a node where it was kept (an extension)',
  },
  'GET /v2/compute/projects/{project_id}/{node_type}/nodes/{node_id}/disk_use': {
    summary: "Disk space of a node's files",
  },
  'POST /v2/compute/projects/{project_id}/{node_type}/nodes/{node_id}/reload': { summary: 'Reload a node' },
  'POST /v2/compute/projects/{project_id}/{node_type}/nodes/{node_id}/duplicate': {
    summary: 'Copy what a node has into another node',
  },
  'POST /v2/compute/projects/{project_id}/{node_type}/nodes/{node_id}/adapters/{adapter_number:\\d+}/ports/{port_number:\\d+}/nio':
    { summary: 'Add a NIO to a node' },
  'PUT /v2/compute/projects/{project_id}/{node_type}/nodes/{node_id}/adapters/{adapter_number:\\d+}/ports/{port_number:\\d+}/nio':
    { summary: 'Update filters and suspension of a NIO' },
  'DELETE /v2/compute/projects/{project_id}/{node_type}/nodes/{node_id}/adapters/{adapter_number:\\d+}/ports/{port_number:\\d+}/nio':
    { summary: 'Remove a NIO from a node' },
  'POST /v2/compute/projects/{project_id}/{node_type}/nodes/{node_id}/adapters/{adapter_number:\\d+}/ports/{port_number:\\d+}/start_capture':
    { summary: 'Start capture on a port' },
  'POST /v2/compute/projects/{project_id}/{node_type}/nodes/{node_id}/adapters/{adapter_number:\\d+}/ports/{port_number:\\d+}/stop_capture':
    { summary: 'Stop capture on a port' },
  'PUT /v2/compute/projects/{project_id}/{node_type}/nodes/{node_id}/adapters/{adapter_number:\\d+}/ports/{port_number:\\d+}/impairments':
    { summary: 'Impair each direction of the cable (an extension)' },
  'GET /v2/compute/projects/{project_id}/{node_type}/nodes/{node_id}/adapters/{adapter_number:\\d+}/ports/{port_number:\\d+}/statistics':
    { summary: 'What was seen of the cable (an extension)' },
  'POST /v2/compute/projects/{project_id}/{node_type}/nodes/{node_id}/adapters/{adapter_number:\\d+}/ports/{port_number:\\d+}/statistics/reset':
    { summary: 'Start counting what passes the cable from zero (an extension)' },
  'GET /v2/compute/projects/{project_id}/{node_type}/nodes/{node_id}/adapters/{adapter_number:\\d+}/ports/{port_number:\\d+}/schedule':
    { summary: 'State of the schedule of impairments (an extension)' },
  'POST /v2/compute/projects/{project_id}/{node_type}/nodes/{node_id}/adapters/{adapter_number:\\d+}/ports/{port_number:\\d+}/schedule':
    { summary: 'Start a schedule of impairments (an extension)' },
  'DELETE /v2/compute/projects/{project_id}/{node_type}/nodes/{node_id}/adapters/{adapter_number:\\d+}/ports/{port_number:\\d+}/schedule':
    { summary: 'Cancel the schedule of impairments (an extension)' },
  'GET /v2/compute/projects/{project_id}/{node_type}/nodes/{node_id}/adapters/{adapter_number:\\d+}/ports/{port_number:\\d+}/pcap':
    { summary: 'Fetch the capture of a port', errors: [409], query: LAST, answer: PCAP },
  'GET /v2/compute/projects/{project_id}/{node_type}/nodes/{node_id}/adapters/{adapter_number:\\d+}/ports/{port_number:\\d+}/pcap/ws':
    {
      summary: 'The capture of a port as binary messages, and its figures as text (an extension)',
      errors: [409],
      query: LAST,
    },
  'POST /v2/compute/projects/{project_id}/{node_type}/nodes/{node_id}/console/reset': {
    summary: 'Reset the console of a node',
  },
  'GET /v2/compute/projects/{project_id}/{node_type}/nodes/{node_id}/console/ws': {
    summary: 'Console of a node',
    query: WINDOW,
  },
};

/** The texts of a route: its own, or those of this table. */
export function wordsOf(route: Route): RouteWords | undefined {
  const { method, pattern } = route;
  const general = pattern
    .replace(/^(\/v2\/compute\/projects\/\{project_id\})\/\w+\/nodes/, '$1/{node_type}/nodes')
    .replace(/^(\/v2\/compute)\/\w+\/(images|uploads)/, '$1/{emulator}/$2');
  const own = route.kind === 'http' ? route.options.words : route.words;
  return own ?? ROUTE_WORDS[`${method} ${pattern}`] ?? ROUTE_WORDS[`${method} ${general}`];
}
