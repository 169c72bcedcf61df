import { InvalidArgumentError } from 'commander'
import Type from 'typebox'
import { expect, test } from 'vitest'
import { findMemberReader, schemaMembers } from './schema-reader.ts'

const Limit = Type.Union([Type.Integer({ minimum: 1 }), Type.Literal('unlimited'), Type.Null()])
const Rate = Type.Union([Type.Number({ exclusiveMinimum: 0 }), Type.Literal('unlimited'), Type.Null()])
const Ports = Type.Union([Type.Array(Type.Integer({ minimum: 1, maximum: 65_535 })), Type.Literal('any')])
const Time = Type.String({ format: 'date-time' })

const parse = (schema: object, ...texts: readonly string[]): unknown =>
  texts.reduce<unknown>((before, text) => {
    const read = findMemberReader(schema, 'default')?.parse
    return read === undefined ? text : read(text, before as readonly unknown[] | undefined)
  }, undefined)

test.each<[string, object, readonly string[], unknown]>([
  ['a number', Type.Integer({ minimum: 0 }), ['1_000'], 1_000],
  ['a limit', Limit, ['200'], 200],
  ['no limit', Limit, ['unlimited'], 'unlimited'],
  ['the limit of the server', Limit, ['default'], null],
  ['a part of a number', Rate, ['0.5'], 0.5],
  ['ports', Ports, ['443', '8443'], [443, 8443]],
  ['any port', Ports, ['any'], 'any'],
  ['a day', Time, ['2026-07-01'], '2026-07-01T00:00:00.000Z'],
  ['a time or none', Type.Union([Time, Type.Null()]), ['2026-07-01'], '2026-07-01T00:00:00.000Z'],
  ['texts', Type.Array(Type.String()), ['a', 'b'], ['a', 'b']],
])('%s is read', (_, schema, texts, value) => expect(parse(schema, ...texts)).toEqual(value))

test.each<[string, object, string]>([
  ['1.5', Limit, 'It must be a whole number, unlimited or default.'],
  ['11', Type.Union([Type.Integer({ maximum: 10 }), Type.Null()]), 'It must be a whole number up to 10 or default.'],
  ['0', Rate, 'It must be a number above 0, unlimited or default.'],
  ['1e3', Rate, 'It must be a number above 0, unlimited or default.'],
  ['0', Ports, 'It must be a whole number from 1 to 65535.'],
  ['11', Type.Integer({ minimum: 1, maximum: 10 }), 'It must be a whole number from 1 to 10.'],
  ['tomorrow', Time, 'It must be a day such as 2026-07-01 or a time such as 2026-07-01T09:30:00Z.'],
])('%j is refused', (text, schema, message) => expect(() => parse(schema, text)).toThrow(new InvalidArgumentError(message)))

test.each<[string, object, ...string[]]>([
  ['ports, and any', Ports, '443', 'any'],
  ['any port, and one', Ports, 'any', '443'],
  ['a word twice', Limit, 'unlimited', 'unlimited'],
  ['no limit, and a number', Limit, 'unlimited', '5'],
  ['a number, and the limit of the server', Limit, '5', 'default'],
  ['null, and a number', Limit, 'default', '5'],
  ['two numbers', Limit, '5', '6'],
])('%s is refused', (_, schema, ...texts) =>
  expect(() => parse(schema, ...texts)).toThrow(new InvalidArgumentError('It is given more than once.')),
)

test('a member with parts has no option, and one of several words is a choice', () => {
  expect(findMemberReader(Type.Object({ a: Type.String() }), 'none')).toBeNull()
  expect(findMemberReader(Type.Array(Type.Object({})), 'none')).toBeNull()
  expect(findMemberReader(Type.Enum(['a', 'b']), 'none')).toEqual({ choices: ['a', 'b'] })
})

test('the help has the description of a member, or of its first part', () => {
  const described = { description: 'How many there are.' }
  const input = Type.Object({
    one: Type.Optional(Type.Union([Type.Integer(described), Type.Null()])),
    sender_id: Type.String({ description: 'sender_id of a participant.' }),
    rfc: Type.String({ description: 'RFC 7638, SHA-256.' }),
  })
  expect(schemaMembers(input).map(({ name, description, isRequired }) => [name, description, isRequired])).toEqual([
    ['one', 'how many there are', false],
    ['sender_id', 'sender_id of a participant', true],
    ['rfc', 'RFC 7638, SHA-256', true],
  ])
})
