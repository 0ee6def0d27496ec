// The templates that are there without having been made (as in release 2.2.57). Their ids are those of
// the release (name-based UUIDs of the type), so that topologies of either server find them.
import type { Template } from './schema.ts';

type Category = Template['category'];

function builtin(
  template_id: string,
  template_type: string,
  name: string,
  default_name_format: string,
  category: Category,
  symbol: string,
  more: Record<string, unknown> = {},
): Template {
  return {
    template_id,
    template_type,
    name,
    default_name_format,
    category,
    symbol: `:/symbols/${symbol}.svg`,
    compute_id: null,
    builtin: true,
    ...more,
  };
}

// biome-ignore format: a table
export const BUILTIN_TEMPLATES: readonly Template[] = [
  builtin('39e257dc-8412-3174-b6b3-0ee3ed6a43e9', 'cloud', 'Cloud', 'Cloud{0}', 'guest', 'cloud'),
  builtin('df8f4ea9-33b7-3e96-86a2-c39bc9bb649c', 'nat', 'NAT', 'NAT{0}', 'guest', 'nat'),
  builtin('19021f99-e36f-394d-b4a1-8aaa902ab9cc', 'vpcs', 'VPCS', 'PC{0}', 'guest', 'vpcs_guest', { properties: { base_script_file: 'vpcs_base_config.txt' } }),
  builtin('1966b864-93e7-32d5-965f-001384eec461', 'ethernet_switch', 'Ethernet switch', 'Switch{0}', 'switch', 'ethernet_switch', { console_type: 'none' }),
  builtin('b4503ea9-d6b6-3695-9fe4-1db3b39290b0', 'ethernet_hub', 'Ethernet hub', 'Hub{0}', 'switch', 'hub'),
  builtin('dd0f6f3a-ba58-3249-81cb-a1dd88407a47', 'frame_relay_switch', 'Frame Relay switch', 'FRSW{0}', 'switch', 'frame_relay_switch'),
  builtin('aaa764e2-b383-300f-8a0e-3493bbfdb7d2', 'atm_switch', 'ATM switch', 'ATMSW{0}', 'switch', 'atm_switch'),
];
