// Reads unvalidated values of a 1.x topology file.
import { isObject, type JsonObject } from '../json.ts';

const UUID = /^[a-fA-F0-9]{8}(-[a-fA-F0-9]{4}){3}-[a-fA-F0-9]{12}$/;

/** The objects in a list; other values are ignored. */
export function objects(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** A number without its fraction, as the release reads coordinates: -87.5 becomes -87. */
export function integer(value: unknown, otherwise: number): number {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? Math.trunc(number) + 0 : otherwise;
}

export function text(value: unknown, otherwise: string): string {
  return typeof value === 'string' && value !== '' ? value : otherwise;
}

export function uuidOr(value: unknown, newId: () => string): string {
  return typeof value === 'string' && UUID.test(value) ? value : newId();
}

/** Degrees between -359 and 360. */
export function rotation(value: unknown): number {
  return integer(value, 0) % 360;
}
