// What tests look into without a type.

/** JSON of an answer, looked at member by member. */
// biome-ignore lint/suspicious/noExplicitAny: tests check the members that they read
export type Body = any;
