/** Synthetic records for the page of the console that publishes events: at most one for each event type. */
import { type EventType, isJsonObject, type JsonObject, type Kind, type RecordType, readAttribute } from '@rollcall/protocol'
import Type from 'typebox'
import { closed, text } from '../members.ts'

export const EventExample = closed({
  event_type: text('Name of the event type.'),
  record: Type.Unsafe<JsonObject>(Type.Object({}, { description: 'A synthetic record that it fits, without what it needs.' })),
  needs: Type.Array(closed({ name: text('Name of a date attribute.'), path: text('Where it stands in the record.') }), {
    description: 'What has to be said with it.',
  }),
})

/**
 * Makes an example for each event type: a sample record without the dates for which the page asks the publisher. An event type
 * without a fitting sample is left out.
 */
export const makeEventExamples = (kind: Kind, type: RecordType, samples: readonly JsonObject[]) =>
  kind.event_types.flatMap((event) => {
    const record = canRecordTypeHaveEvent(kind, type, event) ? chooseSample(type, event, samples) : undefined
    if (record === undefined) return []
    const needed = type.attributes.filter(({ name }) => event.needs?.includes(name))
    const needs = needed.map(({ name, paths: [path = name] }) => ({ name, path }))
    const without = structuredClone(record)
    for (const path of needed.flatMap(({ paths }) => paths)) removeAtPath(without, path.split('.'))
    return [{ event_type: event.name, record: without, needs }]
  })

/** True when records of a type can have an event. An event that no rule derives, such as an adoption, fits all record types. */
function canRecordTypeHaveEvent({ record_types }: Kind, { event_rules }: RecordType, { name }: EventType): boolean {
  const isMade = (rules: RecordType['event_rules']) => rules.some(({ event }) => event === name)
  return isMade(event_rules) || !record_types.some((other) => isMade(other.event_rules))
}

/** Chooses the sample that `offers` of the event type describes; undefined: none fits. */
function chooseSample(type: RecordType, { offers = {} }: EventType, samples: readonly JsonObject[]) {
  const { has = [], lacks = [], by } = offers
  const said = (record: JsonObject, name: string) => {
    const attribute = type.attributes.find((one) => one.name === name)
    return attribute && (readAttribute(attribute, record) ?? undefined)
  }
  const fitting = samples.filter(
    (record) => has.every((name) => said(record, name) !== undefined) && lacks.every((name) => said(record, name) === undefined),
  )
  if (by === undefined) return fitting[0]
  const dayOf = (record: JsonObject): string => {
    const value = said(record, by.attribute)
    return typeof value === 'object' && 'from' in value ? value.from : ''
  }
  const dated = fitting.filter((record) => dayOf(record) !== '').toSorted((a, b) => (dayOf(a) < dayOf(b) ? -1 : 1))
  return dated.at(by.first === 'latest' ? -1 : 0)
}

function removeAtPath(record: JsonObject, [first = '', ...rest]: readonly string[]): void {
  const member = record[first]
  if (rest.length === 0) delete record[first]
  else if (isJsonObject(member)) removeAtPath(member, rest)
}
