/** Collects the values of one record that were not understood. */
import {
  type Attribute,
  type AttributeType,
  type IdentifierType,
  type Kind,
  type ReadingNotes,
  searchKey,
  UNLISTED,
} from '@rollcall/protocol'
import type { MappingTarget } from './column-mapping.ts'
import { CELL_STATES, cellProblems, describeCellProblem, findCellValueRule, type RowCells } from './row-documents.ts'

/** A value that was not understood: its attribute, its identifier type or the column mapping does not accept it. */
interface NotUnderstoodValue {
  /** The name of the attribute, or of the identifier type. */
  readonly name: string
  /** The path of the value in the record, or in an element of a list. */
  readonly path: string
  /** The rule that the value breaks; empty when it is a rule of the column mapping, which `cellProblems` reports. */
  readonly rule: string
}

/** The common name of identifiers whose types the kind does not list. */
export const OTHER_IDENTIFIERS_NAME = 'identifiers of other types'

const RULE_BY_ATTRIBUTE_TYPE: Readonly<Record<AttributeType, string>> = {
  text: 'must be text or a number',
  code: 'must be text or a number',
  date: 'must be a date such as 1990-12-31, 1990-12, 1990 or 31.12.1990',
  datetime: 'must be a date-time such as 2026-02-03T09:15:00Z, or a date',
  number: 'must be a number such as 12.5',
  boolean: 'must be true, false, 1 or 0',
  age: 'must be a number',
}

const RULE_BY_NORMALISER: Readonly<Partial<Record<IdentifierType['normaliser'], string>>> = {
  phone: 'must be a phone number of 3 to 32 digits',
  email: 'must be an e-mail address',
}
const DEFAULT_IDENTIFIER_RULE = 'must be text of 1 to 256 characters, or a whole number'

const identifierRule = ({ normaliser }: IdentifierType): string => RULE_BY_NORMALISER[normaliser] ?? DEFAULT_IDENTIFIER_RULE

/** The rule for a value, by the name of its attribute or identifier type; null: the record type has no such name. */
export function findValueRuleByName(kind: Kind, recordTypeName: string, name: string): string | null {
  const recordType = kind.record_types.find((one) => one.name === recordTypeName)
  const members = (recordType?.compounds ?? []).flatMap((compound) => compound.members)
  const attribute = [...(recordType?.attributes ?? []), ...members].find((one) => one.name === name)
  if (attribute !== undefined) return RULE_BY_ATTRIBUTE_TYPE[attribute.type]
  const type = [...kind.identifier_types, UNLISTED].find((one) => one.name === name)
  return type === undefined ? null : identifierRule(type)
}

/** The values of one record that were not understood, and its attributes with unlisted codes. `clear` prepares for the next. */
export class RecordReadingNotes implements ReadingNotes {
  readonly unreadValues: NotUnderstoodValue[] = []
  readonly unlistedNames = new Set<string>()
  readonly memberNames = new Set<string>()

  unread({ name, type }: Attribute, path: string): void {
    this.unreadValues.push({ name, path, rule: RULE_BY_ATTRIBUTE_TYPE[type] })
  }

  unlisted({ name }: Attribute): void {
    this.unlistedNames.add(name)
  }

  readMember({ name }: Attribute): void {
    this.memberNames.add(name)
  }

  unusable(type: IdentifierType, path: string): void {
    const name = type === UNLISTED ? OTHER_IDENTIFIERS_NAME : type.name
    this.unreadValues.push({ name, path, rule: identifierRule(type) })
  }

  /** Forgets the notes on the last record. */
  clear(): void {
    this.unreadValues.length = 0
    if (this.unlistedNames.size > 0) this.unlistedNames.clear()
    if (this.memberNames.size > 0) this.memberNames.clear()
  }

  /**
   * Completes the cells and the notes from each other. A cell whose value was noted gets the state `not_understood`. For a cell
   * that the mapping did not understand, a note is added for each attribute and identifier type that is read at its path.
   */
  compare({ targets, states }: RowCells): void {
    if (this.unreadValues.length === 0 && !states.includes(CELL_STATES.not_understood)) return
    for (const [at, target] of targets.entries()) {
      const found = this.unreadValues.find((one) => isWrittenByTarget(target, one))
      if (found !== undefined && target.column !== null) states[at] = CELL_STATES.not_understood
      if (found !== undefined || states[at] !== CELL_STATES.not_understood) continue
      for (const name of target.reads) this.unreadValues.push({ name, path: target.key, rule: '' })
    }
  }

  /** Lists every problem of the record once, those of the row's cells first. */
  problems(cells: RowCells | undefined): readonly string[] {
    const own = cells === undefined ? [] : cellProblems(cells)
    if (this.unreadValues.length === 0) return own
    const targets = cells?.targets ?? []
    const others = this.unreadValues.flatMap((one) => {
      const target = targets.find((other) => isWrittenByTarget(other, one))
      // `own` has the problems of cells for which the mapping has a format or codes. An empty `rule` comes from such a cell.
      if (one.rule === '' || (target !== undefined && findCellValueRule(target) !== null)) return []
      return [notUnderstoodValueProblem(one, target)]
    })
    return [...new Set([...own, ...others])]
  }
}

function notUnderstoodValueProblem({ name, rule }: NotUnderstoodValue, target: MappingTarget | undefined): string {
  if (target === undefined) return `${name}: ${rule}`
  const advice = rule === RULE_BY_ATTRIBUTE_TYPE.date ? '; or name the format of the column in the mapping' : ''
  return describeCellProblem(target, `${rule}${advice}`)
}

/** True when the target writes the value. The path of the value may be only the end of the target's path (`key`). */
const isWrittenByTarget = ({ reads, key }: MappingTarget, { name, path }: NotUnderstoodValue): boolean =>
  reads.includes(name) && `.${key}`.endsWith(path === '' ? '' : `.${searchKey(path)}`)
