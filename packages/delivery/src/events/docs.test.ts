import { readFileSync } from 'node:fs'
import { KINDS } from '@rollcall/protocol'
import { expect, test } from 'vitest'

const CHANGES = ['new', 'changed', 'deleted'] as const

test('docs/events.md lists the events of every record type', () => {
  const page = readFileSync(new URL('../../../../docs/events.md', import.meta.url), 'utf8')
  const listed = [...page.matchAll(/^\| (\w+) \| (\w+) \| ([^|]*)\| ([^|]*)\| ([^|]*)\|$/gm)].map(
    ([, kind, recordType, ...events]) => [kind, recordType, ...events.map((names) => names.trim())],
  )
  const rules = KINDS.flatMap((kind) =>
    kind.record_types.map(({ name, event_rules }) => [
      kind.name,
      name,
      ...CHANGES.map((change) => {
        const events = event_rules.filter(({ on, corrects }) => on === change && corrects === undefined)
        return [...new Set(events.map(({ event }) => event))].join(', ')
      }),
    ]),
  )
  expect(listed.filter(([kind]) => kind !== 'Kind').toSorted()).toEqual(rules.toSorted())
})

test('every rule names an event type, and attributes and lists of its record type', () => {
  for (const { event_types, record_types } of KINDS) {
    const events = event_types.map(({ name }) => name)
    for (const { event_rules, attributes, compounds = [], keyed_lists, relations = [] } of record_types) {
      const known = [...attributes, ...compounds, ...compounds.flatMap(({ members }) => members), ...keyed_lists].map(
        ({ name }) => name,
      )
      const textsIn = (value: unknown): string[] =>
        typeof value === 'string' ? [value] : Object.values(value as object).flatMap(textsIn)
      const named = event_rules.flatMap(({ if: conditions = [] }) =>
        conditions.flatMap(({ is: _, ...condition }) => textsIn(condition)),
      )
      expect(event_rules.map(({ event }) => event).filter((event) => !events.includes(event))).toEqual([])
      expect(named.filter((name) => !known.includes(name))).toEqual([])
      const persons = event_rules.flatMap((rule) => rule.persons ?? [])
      expect(relations.map(({ name }) => name)).toEqual(expect.arrayContaining(persons))
    }
  }
})
