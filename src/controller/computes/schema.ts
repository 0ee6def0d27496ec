// Bodies of the compute routes (`ComputeCreate`, `ComputeUpdate` of the API).
import * as v from 'valibot';
import { Integer } from '../../api/vocabulary.ts';

const MEMBERS = {
  compute_id: v.optional(v.string()),
  name: v.optional(v.string()),
  protocol: v.picklist(['http', 'https']),
  host: v.string(),
  port: Integer,
  user: v.optional(v.nullable(v.string())),
  password: v.optional(v.nullable(v.string())),
};

export const ComputeCreate = v.strictObject(MEMBERS);
export type ComputeCreate = v.InferOutput<typeof ComputeCreate>;

/** `compute_id` is accepted and ignored. */
export const ComputeUpdate = v.partial(ComputeCreate);
export type ComputeUpdate = v.InferOutput<typeof ComputeUpdate>;

/** The router for a search of idle-PC values; `ram` in MiB. */
export const IdlePcSearch = v.object({ platform: v.string(), image: v.string(), ram: Integer });
export type IdlePcSearch = v.InferOutput<typeof IdlePcSearch>;

/** A registered compute as stored. */
export const StoredCompute = v.object({
  ...MEMBERS,
  compute_id: v.string(),
  name: v.string(),
  user: v.nullable(v.string()),
  password: v.nullable(v.string()),
});
export type StoredCompute = v.InferOutput<typeof StoredCompute>;
