/** The persons of a portion of an enrolment update: those in the registry, and new ones. */

import { type Beneficiary, InvalidBeneficiary } from '@rollcall/core/enrolment/beneficiary'
import { type Ledger, parseStoredDocument } from '@rollcall/core/enrolment/ledger'
import type { Identifier, RecordId } from '@rollcall/core/model/records'
import { type JsonObject, type RecordIdentifier, type RecordType, UNLISTED } from '@rollcall/protocol'
import type { IdentifierWithRecord, RecordWithLedger } from '@rollcall/records/records/enrolment-ledgers'
import type { PreparedRecord } from '@rollcall/records/records/prepare-record'

/** Thrown when a beneficiary's identifiers do not name exactly one person, or that person's record may not be written. */
export class NoWritablePerson extends InvalidBeneficiary {}

/** A record as text and as an object; without a record, null and an empty object. */
interface RecordContent {
  readonly text: string | null
  readonly document: JsonObject
}

/** A person whom a portion names. A portion is the part of an enrolment update that one transaction writes. */
export interface PersonWithLedger {
  /** The id of the person's record; null: the record does not exist yet. */
  id: RecordId | null
  /** The record before the transaction. */
  readonly before: RecordContent
  /** The record as the transaction has written it; until then the same as `before`. */
  written: RecordContent
  /** The identifiers of records that were merged into this one. */
  readonly aliases: readonly Identifier[]
  document: JsonObject
  ledger: string | null
  /** The ledger as the transaction has written it; until then, the stored one. */
  writtenLedger: string | null
  /** The parsed form of `ledger`; null: `ledger` must be parsed first. */
  parsed: Ledger | null
  /**
   * The time, in milliseconds, at which the next scheduled status in `ledger` begins; null: none is scheduled, or `ledger` is not
   * changed. It is stored only together with `ledger`.
   */
  due: number | null
  /** The record to write; null: the record is not changed. */
  prepared: PreparedRecord | null
}

/** Makes the person of a stored record. @param record absent for a person who has no record yet */
export function makePersonWithLedger(record?: RecordWithLedger): PersonWithLedger {
  const { id = null, document: text = null, state = null, aliases = [] } = record ?? {}
  const before = { text, document: text === null ? {} : parseStoredDocument(text) }
  return {
    id,
    before,
    written: before,
    aliases,
    document: before.document,
    ledger: state,
    writtenLedger: state,
    parsed: null,
    due: null,
    prepared: null,
  }
}

type IdentifierTypeAndValue = Pick<RecordIdentifier, 'type' | 'value'>

/** The key of an identifier in maps and sets. */
export const identifierKeyOf = ({ type, value }: IdentifierTypeAndValue): string => `${type} ${value}`

/** Finds the persons of a portion by their identifiers. */
export class PeopleByIdentifier {
  readonly #primary: string
  readonly #named = new Map<string, Set<PersonWithLedger>>()
  readonly #primaries = new Map<PersonWithLedger, string>()

  constructor(recordType: RecordType, named: readonly IdentifierWithRecord[], records: readonly RecordWithLedger[]) {
    this.#primary = recordType.primary_identifier
    const people = new Map(
      records.map((record) => {
        const person = makePersonWithLedger(record)
        this.#primaries.set(person, record.primary_identifier)
        return [record.id, person]
      }),
    )
    for (const identifier of named) {
      const person = people.get(identifier.record)
      if (person !== undefined) this.#name(identifier, person)
    }
  }

  get all(): readonly PersonWithLedger[] {
    return [...this.#primaries.keys()]
  }

  /** True when a person of the portion has the identifier. */
  names(identifier: IdentifierTypeAndValue): boolean {
    return this.#named.has(identifierKeyOf(identifier))
  }

  /**
   * Finds the one person whom the identifiers name, or makes a new one.
   * @throws NoWritablePerson the identifiers name several persons; they name nobody, and none of them is a primary identifier for
   * a new person; or they name a person by another identifier, but their primary identifier is not this person's
   */
  of({ identifiers }: Beneficiary): PersonWithLedger {
    const found = new Set(identifiers.flatMap((one) => [...(this.#named.get(identifierKeyOf(one)) ?? [])]))
    const [person, another] = found
    if (another !== undefined) {
      throw new NoWritablePerson('member.member_identifier: the identifiers name more than one person')
    }
    const primary = identifiers.find(({ type }) => type === this.#primary)?.value
    if (person === undefined) {
      if (primary === undefined) {
        const rule = `the identifiers name nobody here, and a new person needs a ${this.#primary}`
        throw new NoWritablePerson(`member.member_identifier: ${rule}`)
      }
      return makePersonWithLedger()
    }
    const isAlias = person.aliases.some(({ type, value }) => type === this.#primary && value === primary)
    if (primary !== undefined && primary !== this.#primaries.get(person) && !isAlias) {
      const rule = `the person that another identifier names has another ${this.#primary}`
      throw new NoWritablePerson(`member.member_identifier: ${rule}`)
    }
    return person
  }

  /** Adds the identifiers of a person, so that later entries of the portion find the person. */
  add(person: PersonWithLedger, identifiers: readonly RecordIdentifier[]): void {
    for (const identifier of identifiers) {
      const { type, names, value } = identifier
      if (names !== 'record' || type === UNLISTED.name) continue
      if (type === this.#primary) this.#primaries.set(person, value)
      this.#name(identifier, person)
    }
  }

  #name(identifier: IdentifierTypeAndValue, person: PersonWithLedger): void {
    const key = identifierKeyOf(identifier)
    this.#named.set(key, (this.#named.get(key) ?? new Set()).add(person))
  }
}
