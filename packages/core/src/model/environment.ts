/** Whether a registry and a participant are for real people, or for trying things out. The two never meet. */

/** `live`: real people. `sandbox`: synthetic people, and systems that are being tried out. */
export const ENVIRONMENTS = ['live', 'sandbox'] as const

export type Environment = (typeof ENVIRONMENTS)[number]
