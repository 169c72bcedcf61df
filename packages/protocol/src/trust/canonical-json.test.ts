import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseJson } from '../json.ts'
import { CanonicalJsonError, CanonicalText, canonicalJson } from './canonical-json.ts'

/** A double by its IEEE 754 bits in hexadecimal, as appendix B writes them. */
function double(bits: string): number {
  const view = new DataView(new ArrayBuffer(8))
  view.setBigUint64(0, BigInt(`0x${bits}`))
  return view.getFloat64(0)
}

describe('RFC 8785', () => {
  test.each([
    ['0000000000000000', '0'],
    ['8000000000000000', '0'],
    ['0000000000000001', '5e-324'],
    ['8000000000000001', '-5e-324'],
    ['7fefffffffffffff', '1.7976931348623157e+308'],
    ['ffefffffffffffff', '-1.7976931348623157e+308'],
    ['4340000000000000', '9007199254740992'],
    ['c340000000000000', '-9007199254740992'],
    ['4430000000000000', '295147905179352830000'],
    ['44b52d02c7e14af5', '9.999999999999997e+22'],
    ['44b52d02c7e14af6', '1e+23'],
    ['44b52d02c7e14af7', '1.0000000000000001e+23'],
    ['444b1ae4d6e2ef4e', '999999999999999700000'],
    ['444b1ae4d6e2ef4f', '999999999999999900000'],
    ['444b1ae4d6e2ef50', '1e+21'],
    ['3eb0c6f7a0b5ed8c', '9.999999999999997e-7'],
    ['3eb0c6f7a0b5ed8d', '0.000001'],
    ['41b3de4355555553', '333333333.3333332'],
    ['41b3de4355555554', '333333333.33333325'],
    ['41b3de4355555555', '333333333.3333333'],
    ['41b3de4355555556', '333333333.3333334'],
    ['41b3de4355555557', '333333333.33333343'],
    ['becbf647612f3696', '-0.0000033333333333333333'],
    ['43143ff3c1cb0959', '1424953923781206.2'],
  ])('appendix B: %s is %s', (bits, expected) => {
    expect(canonicalJson(double(bits))).toBe(expected)
  })

  test.each(['7fffffffffffffff', '7ff0000000000000', 'fff0000000000000'])('appendix B: %s is an error', (bits) => {
    expect(() => canonicalJson(double(bits))).toThrow(new CanonicalJsonError('NaN and infinities have no canonical JSON'))
  })

  test('3.2.2 and 3.2.4: the sample object and its bytes', () => {
    // The reader refuses its first number, which has another shortest form.
    const sample = JSON.parse(String.raw`{
      "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
      "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
      "literals": [null, true, false]
    }`)
    const text = canonicalJson(sample)
    expect(text).toBe(
      String.raw`{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`,
    )
    expect(Buffer.from(text).toString('hex')).toBe(
      [
        '7b226c69746572616c73223a5b6e756c6c2c747275652c66616c73655d2c226e756d62657273223a',
        '5b3333333333333333332e333333333333332c31652b33302c342e352c302e3030322c31652d3237',
        '5d2c22737472696e67223a22e282ac245c75303030665c6e4127425c225c5c5c5c5c222f227d',
      ].join(''),
    )
  })

  test('3.2.3: members are sorted by UTF-16 code units', () => {
    const sample = parseJson(String.raw`{
      "\u20ac": "Euro Sign",
      "\r": "Carriage Return",
      "\ufb33": "Hebrew Letter Dalet With Dagesh",
      "1": "One",
      "\ud83d\ude00": "Emoji: Grinning Face",
      "\u0080": "Control",
      "\u00f6": "Latin Small Letter O With Diaeresis"
    }`)
    expect(canonicalJson(sample)).toBe(
      '{"\\r":"Carriage Return","1":"One","\u0080":"Control","\u00f6":"Latin Small Letter O With Diaeresis",' +
        '"\u20ac":"Euro Sign","\ud83d\ude00":"Emoji: Grinning Face","\ufb33":"Hebrew Letter Dalet With Dagesh"}',
    )
  })
})

test('members are sorted at every level, and integer-like names as text', () => {
  expect(canonicalJson({ b: [{ z: 1, a: 2 }], a: { 10: 1, 9: 2, '': 3 }, __proto__x: 0 })).toBe(
    '{"__proto__x":0,"a":{"":3,"10":1,"9":2},"b":[{"a":2,"z":1}]}',
  )
  expect(canonicalJson(parseJson('{"b":1,"__proto__":{"x":1}}'))).toBe('{"__proto__":{"x":1},"b":1}')
})

test('undefined members are left out', () => {
  expect(canonicalJson({ a: undefined, b: { c: undefined }, d: null })).toBe('{"b":{},"d":null}')
})

test('a canonical text is embedded as it is, anywhere', () => {
  const record = new CanonicalText('{"b":2,"a":1}')
  expect(canonicalJson(record)).toBe('{"b":2,"a":1}')
  expect(canonicalJson({ records: [record, record], more: record })).toBe(
    '{"more":{"b":2,"a":1},"records":[{"b":2,"a":1},{"b":2,"a":1}]}',
  )
})

test.each([
  ['a bigint', [1n], 'a value of type bigint has no canonical JSON'],
  ['undefined in an array', [undefined], 'a value of type undefined has no canonical JSON'],
  ['a hole in an array', new Array(1), 'a value of type undefined has no canonical JSON'],
  ['a function', { a: () => 1 }, 'a value of type function has no canonical JSON'],
  ['a symbol', Symbol('s'), 'a value of type symbol has no canonical JSON'],
  ['a date', { a: new Date(0) }, 'an object that is no plain data has no canonical JSON'],
  ['a map', new Map(), 'an object that is no plain data has no canonical JSON'],
  ['a lone surrogate', { a: 'x\ud83d' }, 'a text with a lone surrogate has no canonical JSON'],
  ['a lone surrogate in a name', { '\ude00': 1 }, 'a text with a lone surrogate has no canonical JSON'],
])('%s is refused', (_, value, rule) => {
  expect(() => canonicalJson(value)).toThrow(new CanonicalJsonError(rule))
})

test('the text means the same value, and its canonical form is itself', () => {
  const value = fc.jsonValue({ stringUnit: 'binary' })
  fc.assert(
    fc.property(value, (json) => {
      const text = canonicalJson(json)
      expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(json)))
      expect(canonicalJson(JSON.parse(text))).toBe(text)
    }),
  )
})

test.each([0, 1, 2, 32, 33, 500])('%i members come out sorted', (count) => {
  const names = Array.from({ length: count }, (_, index) => `n${(index * 7919) % 10_007}`)
  const expected = [...names].sort().map((name) => `"${name}":1`)
  expect(canonicalJson(Object.fromEntries(names.map((name) => [name, 1])))).toBe(`{${expected}}`)
})

test('the order in which members were written does not matter', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string({ unit: 'binary' }), fc.integer()), (members) => {
      const reversed = Object.fromEntries(Object.entries(members).reverse())
      expect(canonicalJson(reversed)).toBe(canonicalJson(members))
    }),
  )
})

test('more names than are remembered, and names that are too long to be remembered, are written each time', () => {
  const names = Array.from({ length: 3_000 }, (_, at) => `${at}`.padStart(at % 2 === 0 ? 4 : 100, 'n'))
  for (const name of [...names, ...names, '"', '"']) {
    expect(canonicalJson({ [name]: name })).toBe(`{${JSON.stringify(name)}:${JSON.stringify(name)}}`)
  }
})
