// The images of a host, offered where a field names one.
import { api } from '../model/api.ts';
import { useLoaded } from '../model/loaded.ts';
import type { Field } from './schema.ts';

interface ImageObject {
  path?: string;
  filename?: string;
  image?: string;
}

/** What a field offers: the images that it may name, or its own suggestions. */
export function useImages(compute: string | undefined, fields: readonly Field[]): (field: Field) => readonly string[] {
  const emulators = [...new Set(fields.flatMap(({ images }) => images ?? []))];
  const { value } = useLoaded(async () => {
    const lists = emulators.map(async (emulator): Promise<[string, string[]]> => {
      try {
        const images = await api.get<ImageObject[]>(`/computes/${compute ?? 'local'}/${emulator}/images`);
        return [emulator, images.map(({ path, image, filename }) => path ?? image ?? filename ?? '')];
      } catch {
        // Without the emulator there is nothing to offer; the name can be typed all the same.
        return [emulator, []];
      }
    });
    return new Map(await Promise.all(lists));
  }, [compute, emulators.join()]);
  return (field) => (field.images === undefined ? field.suggestions : (value.value?.get(field.images) ?? []));
}
