// A drawing of a project: an SVG picture at a position.

/** A drawing in the topology file: the SVG itself, or the name of a picture in project-files/images. */
export interface DrawingRecord {
  drawing_id: string;
  x: number;
  y: number;
  z: number;
  locked: boolean;
  rotation: number;
  svg: string;
}

export class Drawing {
  readonly projectId: string;
  record: DrawingRecord;

  constructor(projectId: string, record: DrawingRecord) {
    this.projectId = projectId;
    this.record = record;
  }

  get id(): string {
    return this.record.drawing_id;
  }
}
