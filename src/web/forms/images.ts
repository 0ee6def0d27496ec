// Offers the images of a host for fields that name one.
import { api } from '../model/server/api.ts';
import { useLoaded } from '../model/server/loaded.ts';
import { unavailableKindsOf } from '../model/server/unavailable-kinds.ts';
import type { Field } from './schema.ts';

interface ImageObject {
  path?: string;
  filename?: string;
  image?: string;
}

/** Returns the suggestions for a field: matching images, or the field's own. */
export function useImages(compute: string | undefined, fields: readonly Field[]): (field: Field) => readonly string[] {
  const emulators = [...new Set(fields.flatMap(({ images }) => images ?? []))];
  const host = compute ?? 'local';
  const { value } = useLoaded(async () => {
    if (emulators.length === 0) return new Map<string, string[]>();
    const hindered = (await unavailableKindsOf(host)).filter(({ hindrance }) => hindrance !== null);
    const usable = emulators.filter((emulator) => !hindered.some(({ node_type: type }) => type === emulator));
    const lists = usable.map(async (emulator): Promise<[string, string[]]> => {
      try {
        const images = await api.get<ImageObject[]>(`/computes/${encodeURIComponent(host)}/${emulator}/images`);
        return [emulator, images.map(({ path, image, filename }) => path ?? image ?? filename ?? '')];
      } catch {
        // Without the emulator there are no suggestions; the name can still be typed.
        return [emulator, []];
      }
    });
    return new Map(await Promise.all(lists));
  }, [host, emulators.join()]);
  return (field) => (field.images === undefined ? field.suggestions : (value.value?.get(field.images) ?? []));
}
