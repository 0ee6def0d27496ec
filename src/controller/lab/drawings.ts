// Creates, reads, changes and deletes drawings and their picture files.

import { randomUUID } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { DrawingObject } from '../../api/objects.ts';
import type { DrawingBody } from '../../api/routes/drawings.ts';
import type { TopologyDrawing } from '../../api/topology.ts';
import { conflict, ignore, invalid } from '../../failures.ts';
import { removeContained, writeContained } from '../../host/files/contained-files.ts';
import { defined } from '../../host/values/defined-members.ts';
import type { ProjectRecord } from '../../store/projects.ts';
import { readTopologyFile } from '../../store/topology/file.ts';
import { Drawing, type DrawingRecord } from '../drawings/drawing.ts';
import { IMAGES, PictureFiles } from '../drawings/picture-files.ts';
import { EMPTY, isPictureName, keptPicture } from '../drawings/pictures.ts';
import type { Announcer } from '../events.ts';
import { wholeDrawing } from './claims.ts';
import type { LabWriter } from './lab-writer.ts';
import type { Project } from './project.ts';

const DEFAULTS = { x: 0, y: 0, z: 2, locked: false, rotation: 0, svg: EMPTY };

export class Drawings {
  readonly #announcer: Announcer;
  readonly #writer: LabWriter;

  constructor({ announcer, writer }: { announcer: Announcer; writer: LabWriter }) {
    this.#announcer = announcer;
    this.#writer = writer;
  }

  /** The object that clients see (`Drawing`), with the picture read from its file if it has one. */
  async json(
    project: Project,
    { record }: Drawing,
    pictures = new PictureFiles(project.record.path),
  ): Promise<DrawingObject> {
    return { ...record, project_id: project.id, svg: await pictures.show(record.svg) };
  }

  async list(project: Project): Promise<DrawingObject[]> {
    const pictures = new PictureFiles(project.record.path);
    const shown: DrawingObject[] = [];
    for (const drawing of [...project.drawings.values()]) shown.push(await this.json(project, drawing, pictures));
    return shown;
  }

  /** Creates a drawing, or returns the existing one with this id. */
  create(project: Project, given: DrawingBody): Promise<Drawing> {
    const id = given.drawing_id ?? randomUUID();
    return project.changes.run(wholeDrawing(id), async () => {
      project.requireOpen();
      const known = project.drawings.get(id);
      if (known) return known;
      const { project_id: _ignored, ...members } = given;
      const record: DrawingRecord = { ...DEFAULTS, ...defined(members), drawing_id: id };
      record.svg = (await this.#keep(project, given.svg)) ?? EMPTY;
      await this.#writer.apply(project.record, [{ drawing: record }]);
      return this.#add(project, record);
    });
  }

  /** Adds the drawings of a topology file. */
  async recreate(project: Project, stored: readonly TopologyDrawing[]): Promise<void> {
    const pictures = new PictureFiles(project.record.path);
    for (const { project_id: _ignored, ...members } of stored)
      await this.#add(project, { ...DEFAULTS, drawing_id: randomUUID(), ...defined(members) }, pictures);
  }

  async #add(project: Project, record: DrawingRecord, pictures?: PictureFiles): Promise<Drawing> {
    const drawing = new Drawing(project.id, record);
    project.drawings.set(drawing.id, drawing);
    this.#announcer.project.emit('drawing.created', await this.json(project, drawing, pictures), project.id);
    return drawing;
  }

  /** The topology's value for a picture; undefined without a picture or for one that cannot be read. */
  async #keep(project: Project, svg: string | undefined): Promise<string | undefined> {
    if (svg === undefined) return undefined;
    const kept = await keptPicture(svg);
    if (!kept) return undefined;
    if (kept.kind === 'inline') {
      if (isPictureName(kept.svg)) throw invalid('svg: has no <svg> element; send the text of an SVG picture.');
      return kept.svg;
    }
    await writeContained(project.record.path, `${IMAGES}/${kept.name}`, kept.data, { createParents: true });
    return kept.name;
  }

  update(project: Project, id: string, given: DrawingBody): Promise<Drawing> {
    return project.changes.run(wholeDrawing(id), async () => {
      const drawing = project.drawing(id);
      const { drawing_id: _id, project_id: _project, svg, ...members } = given;
      const record: DrawingRecord = { ...drawing.record, ...defined(members) };
      record.svg = (await this.#keep(project, svg)) ?? record.svg;
      await this.#writer.apply(project.record, [{ drawing: record }]);
      await this.replace(project, drawing, record);
      return drawing;
    });
  }

  /** Follows a change of the record on disk. */
  async replace(project: Project, drawing: Drawing, record: DrawingRecord): Promise<void> {
    const redrawn = record.svg !== drawing.record.svg;
    drawing.record = record;
    const { svg: _kept, ...rest } = record;
    const shown = redrawn ? await this.json(project, drawing) : { ...rest, project_id: project.id };
    this.#announcer.project.emit('drawing.updated', shown, project.id);
  }

  /** @throws Failure `conflict` for a locked drawing */
  delete(project: Project, id: string): Promise<void> {
    return project.changes.run(wholeDrawing(id), async () => {
      const drawing = project.drawing(id);
      if (drawing.record.locked) throw conflict('locked: the drawing is locked; unlock it before deleting it.');
      await this.#writer.apply(project.record, [{ delete: 'drawing', id }]);
      project.drawings.delete(id);
      this.#announcer.project.emit('drawing.deleted', await this.json(project, drawing), project.id);
    });
  }

  /**
   * Removes picture files, except the supplier's logo, that neither a drawing of the lab uses nor its file, which another
   * program may have changed. Call it once the file is written. Never rejects.
   */
  async removeUnused(
    { path, filename, supplier }: ProjectRecord,
    drawings: readonly object[],
    version: string,
  ): Promise<void> {
    const used = new Set<unknown>(drawings.map((drawing) => ('svg' in drawing ? drawing.svg : undefined)));
    used.add(supplier?.logo ?? '');
    const unused = (await readdir(`${path}/${IMAGES}`).catch(() => [])).filter((name) => !used.has(name));
    if (unused.length === 0) return;
    const file = await readTopologyFile(join(path, filename), { version, readOnly: true }).catch(ignore);
    if (!file) return;
    for (const { svg } of file.topology.topology.drawings) used.add(svg);
    for (const name of unused) {
      if (!used.has(name)) await removeContained(path, `${IMAGES}/${name}`).catch(ignore);
    }
  }
}
