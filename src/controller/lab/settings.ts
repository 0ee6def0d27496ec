// The settings of a project: appearance, automatic actions, owner.
import type { ProjectRecord } from '../../store/projects.ts';

export type ProjectSettings = Omit<ProjectRecord, 'project_id' | 'path' | 'filename'>;

/** Defaults of release 2.2.57. */
const DEFAULTS: Omit<ProjectSettings, 'name'> = {
  auto_close: true,
  auto_open: false,
  auto_start: false,
  scene_height: 1000,
  scene_width: 2000,
  zoom: 100,
  show_layers: false,
  snap_to_grid: false,
  show_grid: false,
  grid_size: 75,
  drawing_grid_size: 25,
  show_interface_labels: false,
  supplier: null,
  variables: null,
};

/** Settings from a request or a file; null may mean "not given". */
export type GivenSettings = { [Member in keyof ProjectSettings]?: ProjectSettings[Member] | null | undefined };

/** Settings of a new project; missing members get their default. */
export function newSettings(name: string, given: GivenSettings): ProjectSettings {
  return { ...DEFAULTS, ...givenSettings(given), name };
}

/** The settings in `given`; null counts only where it is a value. */
export function givenSettings(given: GivenSettings): Partial<ProjectSettings> {
  const nullable = ['supplier', 'variables'];
  const members = ['name', ...Object.keys(DEFAULTS)] as (keyof ProjectSettings)[];
  return Object.fromEntries(
    members
      .map((member) => [member, given[member]] as const)
      .filter(([member, value]) => value !== undefined && (value !== null || nullable.includes(member))),
  ) as Partial<ProjectSettings>;
}
