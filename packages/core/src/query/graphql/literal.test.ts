import { NUMBER_RULE } from '@rollcall/protocol'
import { parseValue } from 'graphql'
import { describe, expect, it } from 'vitest'
import { QueryProblem } from '../query.ts'
import { literalToJson } from './literal.ts'

const variables = new Map([
  ['uin', 'TST-7'],
  ['nothing', null],
])

function json(text: string) {
  return literalToJson(parseValue(text), variables, 'q')
}

describe('literals as JSON', () => {
  it.each([
    ['"TST-7"', 'TST-7'],
    ['"""block"""', 'block'],
    ['female', 'female'],
    ['true', true],
    ['null', null],
    ['12', 12],
    ['-0', 0],
    ['1.5e2', 150],
    ['9007199254740991', 9007199254740991],
    ['9007199254740992', 9007199254740992],
    ['-9007199254740992.0', -9007199254740992],
    ['1e20', 1e20],
    ['[1, "a", [F]]', [1, 'a', ['F']]],
    ['{ge: "1985", lt: 1990}', { ge: '1985', lt: 1990 }],
    ['$uin', 'TST-7'],
    ['{in: [$uin, $nothing]}', { in: ['TST-7', null] }],
  ])('%s', (text, value) => {
    expect(json(text)).toStrictEqual(value)
  })

  it('a member may have any name', () => {
    const object = json('{__proto__: {a: 1}, constructor: 2}')
    expect(Object.keys(object as object)).toEqual(['__proto__', 'constructor'])
    expect(Object.getPrototypeOf(object)).toBe(Object.prototype)
  })

  it.each([
    ['1e400', 'q', NUMBER_RULE],
    ['[0, -1e400]', 'q[1]', NUMBER_RULE],
    ['9007199254740993', 'q', NUMBER_RULE],
    ['0.12345678901234567890', 'q', NUMBER_RULE],
    ['1e-400', 'q', NUMBER_RULE],
    ['{a: $other}', 'q.a', 'the variable $other must have a value'],
    ['9'.repeat(100_000), 'q', NUMBER_RULE],
  ])('%.20s is refused', (text, path, rule) => {
    expect(() => json(text)).toThrow(new QueryProblem(path, rule))
  })
})
