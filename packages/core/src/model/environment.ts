/**
 * The environment of a registry or participant: real or sandbox. A participant has rights only in registries of its own
 * environment.
 */

/** `live`: real people. `sandbox`: synthetic people, and systems that are tried out. */
export const ENVIRONMENTS = ['live', 'sandbox'] as const

export type Environment = (typeof ENVIRONMENTS)[number]
