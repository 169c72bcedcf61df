/** Knows, while events happen, who lives, who is married, and which couples have married during these events. */
import { type Person, personAt } from '../people.ts'
import type { RandomStream } from '../stream.ts'
import type { RegistryStartState } from './life-row.ts'

/** A married couple: the indices of both persons, and the number of the marriage. */
export interface Couple {
  readonly number: number
  readonly both: readonly [number, number]
}

/** The number of random attempts to find a suitable person. */
const MOST_PERSON_TRIES = 40
const ADULT_YEARS = 18

export class LivingPeople {
  readonly #beginning: RegistryStartState
  /** The indices of all living people, newborn ones included. */
  readonly #living: number[] = []
  /** The spouse of each married person, by index. A spouse from the beginning may have no document. */
  readonly #spouses = new Map<number, number>()
  /** The couples who have married during these events. */
  readonly #couples: Couple[] = []
  #next: number
  #nextMarriage: number

  constructor(beginning: RegistryStartState) {
    this.#beginning = beginning
    this.#next = beginning.next
    this.#nextMarriage = beginning.next
    for (let index = 0; index < beginning.documents; index++) {
      const { place } = this.person(index)
      if (place.death_day !== null) continue
      this.#living.push(index)
      if (place.marital_status === 'M') this.#spouses.set(index, place.role === 'head' ? index + 1 : index - 1)
    }
  }

  person(index: number): Person {
    return personAt(this.#beginning.population, index)
  }

  /** A random living person for whom `fits` is true; null when the attempts find none. */
  anybody(stream: RandomStream, fits: (index: number) => boolean = () => true): number | null {
    for (let tries = 0; tries < MOST_PERSON_TRIES && this.#living.length > 0; tries++) {
      const index = this.#living[stream.below(this.#living.length)]
      if (index !== undefined && fits(index)) return index
    }
    return null
  }

  /** True for an adult of the people who were there at the beginning. Newborn people stay children. */
  isAdult(index: number): boolean {
    return index < this.#beginning.documents && this.person(index).age >= ADULT_YEARS
  }

  isSingle(index: number): boolean {
    return !this.#spouses.has(index)
  }

  /** Adds a newborn person, and returns its index. */
  bear(): number {
    const index = this.#next++
    this.#living.push(index)
    return index
  }

  /** Removes a person who has died, and ends the marriage. @returns the widowed spouse; null: there is none with a document */
  bury(index: number): number | null {
    const spouse = this.#spouses.get(index)
    this.#living.splice(this.#living.indexOf(index), 1)
    const at = this.#couples.findIndex(({ both }) => both.includes(index))
    if (at >= 0) this.#part(at)
    if (spouse === undefined) return null
    this.#spouses.delete(spouse)
    return spouse < this.#beginning.documents ? spouse : null
  }

  marry(one: number, other: number): Couple {
    const couple = { number: this.#nextMarriage++, both: [one, other] } as const
    this.#spouses.set(one, other).set(other, one)
    this.#couples.push(couple)
    return couple
  }

  /** Divorces a random couple that married during these events; null when there is none. */
  divorce(stream: RandomStream): Couple | null {
    return this.#couples.length === 0 ? null : this.#part(stream.below(this.#couples.length))
  }

  #part(at: number): Couple | null {
    const [couple] = this.#couples.splice(at, 1)
    for (const index of couple?.both ?? []) this.#spouses.delete(index)
    return couple ?? null
  }
}
