// Re-exports the schemas of src/api that files and routes share.
export * from '../api/vocabulary.ts';
