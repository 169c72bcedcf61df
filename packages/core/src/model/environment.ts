/**
 * Whether a registry or a participant is for real people or for trying out. A participant has rights only in registries
 * of its own environment.
 */

/** `live`: real people. `sandbox`: synthetic people, and systems that are being tried out. */
export const ENVIRONMENTS = ['live', 'sandbox'] as const

export type Environment = (typeof ENVIRONMENTS)[number]
