/**
 * A slow, obvious evaluation of the predicate tree. It shares only the types with the two evaluators of the server: a
 * date is every day that it may mean, an age is counted birthday by birthday, a text is its bytes.
 */

import type { Comparator, ElementList, Interval, Literal, Predicate } from '@rollcall/core/model/predicate'
import type { RecordValues } from '@rollcall/core/query/memory/extract-record'
import type { Attribute, AttributeScalar, AttributeValue, DayInterval } from '@rollcall/protocol'
import { ageOf, daysOf } from './days.ts'
import { type Answer, all, certain, ofEvery, opposite, some } from './truth.ts'

/** The values of which a condition is asked: those of a record, or of one element of one of its lists. */
type Subject = ReadonlyMap<string, AttributeValue>

/** The days up to today on which somebody may have been born. */
function bornBy(today: string, value: AttributeValue | undefined): readonly string[] {
  return value === undefined ? [] : daysOf(period(value)).filter((day) => day <= today)
}

/** The answer of the predicate for the record on `today`, YYYY-MM-DD. Ages are not resolved before. */
export function answer(predicate: Predicate, record: RecordValues, today: string): Answer {
  const ask = (predicate: Predicate, subject: Subject): Answer => {
    switch (predicate.is) {
      case 'and':
        return all(predicate.of.map((part) => ask(part, subject)))
      case 'or':
        return some(predicate.of.map((part) => ask(part, subject)))
      case 'not':
        return opposite(ask(predicate.of, subject))
      case 'compare':
        return compare(predicate.attribute, predicate.operator, predicate.value, subject)
      case 'in':
        return some(predicate.values.map((value) => compare(predicate.attribute, 'eq', value, subject)))
      case 'exists': {
        const name = predicate.attribute.since ?? predicate.attribute.name
        if (predicate.attribute.type === 'age') return certain(bornBy(today, subject.get(name)).length > 0)
        if (predicate.list === undefined) return certain(subject.has(name))
        return certain(elementsOf(predicate.list, record).some((element) => element.has(name)))
      }
      case 'some': {
        const names = attributeNames(predicate.of)
        const elements = elementsOf(predicate.list, record)
        const counting = elements.filter((element) => names.some((name) => element.has(name)))
        if (counting.length === 0) return ask(predicate.of, new Map())
        return some(counting.map((element) => ask(predicate.of, element)))
      }
      case 'identifier': {
        const types = predicate.identifiers.map(({ type }) => type)
        if (!types.some((type) => record.identifiers.has(type))) return 'unknown'
        const borne = [...record.identifiers].flatMap(([type, values]) =>
          [...values].map((value) => JSON.stringify([type, value])),
        )
        return certain(predicate.identifiers.some(({ type, value }) => borne.includes(JSON.stringify([type, value]))))
      }
      case 'identifier_type':
        return certain([...record.identifiers.keys()].some((type) => predicate.types.includes(type)))
    }
  }

  const compare = (attribute: Attribute, operator: Comparator, literal: Literal, subject: Subject): Answer => {
    const value = subject.get(attribute.since ?? attribute.name)
    if (value === undefined) return 'unknown'
    switch (attribute.type) {
      case 'age': {
        const births = bornBy(today, value)
        if (births.length === 0) return 'unknown'
        return ofEvery(births, (birth) => inOrder(operator, ageOf(birth, today) - Number(literal)))
      }
      case 'date':
        return ofEvery(daysOf(period(value)), (day) => onDay(operator, day, interval(literal)))
      case 'datetime':
        return certain(onDay(operator, String(value), interval(literal)))
      case 'number':
        return certain(inOrder(operator, Number(value) - Number(literal)))
      case 'boolean':
      case 'code':
        return certain(value === literal)
      case 'text':
        return certain(inBytes(operator, Buffer.from(String(value)), Buffer.from(String(literal))))
    }
  }

  return ask(predicate, record.values)
}

/** The elements of a list, each by the names of its attributes. */
function elementsOf(list: ElementList, record: RecordValues): Subject[] {
  if ('members' in list) {
    const elements = record.elements.get(list.name) ?? []
    return elements.map((element) => new Map(Object.entries(element)))
  }
  const values = record.values.get(list.name)
  return values === undefined ? [] : [values].flat().map((value) => new Map([[list.name, value as AttributeScalar]]))
}

function attributeNames(predicate: Predicate): string[] {
  if ('attribute' in predicate) return [predicate.attribute.name]
  if (!('of' in predicate)) return []
  return [predicate.of].flat().flatMap(attributeNames)
}

function period(value: AttributeValue): DayInterval {
  if (typeof value === 'object' && 'from' in value) return value
  throw new Error('a date is a period')
}

function interval(literal: Literal): Interval {
  if (typeof literal === 'object') return literal
  throw new Error('a date is compared with a period')
}

/** Whether a day, or an instant, compares so with an interval. */
function onDay(operator: Comparator, day: string, { from, to }: Interval): boolean {
  if (operator === 'eq') return from <= day && day <= to
  if (operator === 'lt') return day < from
  if (operator === 'le') return day <= to
  if (operator === 'gt') return day > to
  if (operator === 'ge') return day >= from
  throw new Error(`${operator} of a date`)
}

function inOrder(operator: Comparator, difference: number): boolean {
  if (operator === 'eq') return difference === 0
  if (operator === 'lt') return difference < 0
  if (operator === 'le') return difference <= 0
  if (operator === 'gt') return difference > 0
  if (operator === 'ge') return difference >= 0
  throw new Error(`${operator} of a number`)
}

/** Compares texts as bytes in UTF-8: the bytes of a text are in those of another only where the text is in it. */
function inBytes(operator: Comparator, text: Buffer, literal: Buffer): boolean {
  if (operator === 'starts_with') return text.subarray(0, literal.length).equals(literal)
  if (operator === 'contains') return text.includes(literal)
  return inOrder(operator, text.compare(literal))
}
