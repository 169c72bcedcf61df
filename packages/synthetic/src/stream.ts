/** Makes random numbers that are always the same: a stream depends on the seed, a purpose and an index only. */

/** A population: its seed as two numbers, computed once. */
export interface Population {
  readonly low: number
  readonly high: number
}

/** The population of a seed. 7 and '7' are the same seed. */
export function populationOf(seed: number | string): Population {
  const text = String(seed)
  return { low: hashText(text, 0x811c9dc5), high: hashText(text, 0x9e3779b9) }
}

/** The purposes of streams, each with a number. Each has streams of its own: more random numbers for one do not change others. */
export const STREAM_PURPOSES = {
  block: 1,
  household: 2,
  person: 3,
  death: 4,
  phone: 5,
  programmes: 6,
  civil: 10,
  ibr: 11,
  ess: 12,
  group: 13,
  member: 14,
  poverty: 15,
  disability: 17,
  farmer: 16,
  life: 18,
} as const

export type StreamPurpose = (typeof STREAM_PURPOSES)[keyof typeof STREAM_PURPOSES]

/** A stream of random numbers, by the generator sfc32 with 128 bits of state. */
export class RandomStream {
  private a: number
  private b: number
  private c: number
  private counter = 1

  constructor(population: Population, purpose: StreamPurpose, index: number) {
    this.a = population.low ^ index
    this.b = population.high ^ Math.imul(purpose, 0x9e3779b1)
    this.c = index
    for (let round = 0; round < 8; round++) this.next()
  }

  /** The next 32 random bits, as a number from 0. */
  next(): number {
    const sum = (this.a + this.b + this.counter) | 0
    this.counter = (this.counter + 1) | 0
    this.a = this.b ^ (this.b >>> 9)
    this.b = (this.c + (this.c << 3)) | 0
    this.c = (((this.c << 21) | (this.c >>> 11)) + sum) | 0
    return sum >>> 0
  }

  /** A random whole number from 0 to limit − 1. */
  below(limit: number): number {
    return Math.floor((this.next() / 0x1_0000_0000) * limit)
  }

  /** A random whole number from first to last, both included; first when last is smaller. */
  between(first: number, last: number): number {
    return last <= first ? first : first + this.below(last - first + 1)
  }

  /** True with the given probability, 0 to 1. */
  chance(rate: number): boolean {
    return this.next() < rate * 0x1_0000_0000
  }

  /** One of the choices, each equally likely. */
  pick<const T extends readonly [unknown, ...unknown[]]>(choices: T): T[number] {
    return choices[this.below(choices.length)] ?? choices[0]
  }
}

/**
 * FNV-1a over UTF-16 units, mixed at the end so that similar seeds give very different numbers.
 * @param basis the number to begin with: another one gives another hash of the same text
 */
function hashText(text: string, basis: number): number {
  let hash = basis
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}
