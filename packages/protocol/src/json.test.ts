import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { processorTime } from '../../core/test/processor-time.ts'
import { isJsonObject, type JsonBounds, jsonBeginningProblem, parseJson } from './json.ts'
import { JsonError, TooManyItems } from './json-error.ts'
import { NUMBER_RULE } from './numbers.ts'

/** The refusal that a text meets; anything but a JsonError fails the test. */
function refusal(text: string, options?: { maxDepth: number }): { path: string; message: string } {
  try {
    parseJson(text, options)
  } catch (error) {
    if (!(error instanceof JsonError)) throw error
    return { path: error.path, message: error.message }
  }
  throw new Error('the text was accepted')
}

/** Text without NUL and lone surrogates: the reader refuses these on purpose, though JSON.parse accepts them. */
const plainText = fc.string({ unit: 'binary' }).filter((text) => !text.includes('\0'))
const { value: plainValue } = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom(null, true, false, 0, -0, 1e308, 5e-324, 1.5, Number.MAX_SAFE_INTEGER, '__proto__'),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.integer(),
    plainText,
    fc.array(tie('value')),
    fc.dictionary(fc.oneof(plainText, fc.constantFrom('__proto__', 'constructor', '1', '')), tie('value')),
  ),
}))

describe('agrees with JSON.parse', () => {
  test('on every value that JSON.stringify writes, with and without white space', () => {
    fc.assert(
      fc.property(plainValue, fc.constantFrom('', ' ', '\t', '\r\n'), (value, space) => {
        const text = JSON.stringify(value, null, space)
        expect(isDeepStrictEqual(parseJson(text), JSON.parse(text))).toBe(true)
        expect(JSON.stringify(parseJson(text))).toBe(JSON.stringify(value))
      }),
    )
  })

  test('on any escape spelling of a text', () => {
    const spellings = (unit: string) => {
      const hex = unit.charCodeAt(0).toString(16).padStart(4, '0')
      return [`\\u${hex}`, `\\u${hex.toUpperCase()}`, JSON.stringify(unit).slice(1, -1)]
    }
    fc.assert(
      fc.property(plainText, fc.infiniteStream(fc.nat(2)), (text, choices) => {
        const spelled = text.split('').map((unit) => {
          const [lower, upper, short] = spellings(unit)
          return [lower, upper, /[\ud800-\udfff]/.test(unit) ? lower : short][choices.next().value ?? 0]
        })
        expect(parseJson(`"${spelled.join('')}"`)).toBe(text)
      }),
    )
  })

  test.each([
    ['white space around', ' \t\r\n{} \t\r\n', {}],
    ['a solidus with and without escape', '["/","\\/"]', ['/', '/']],
    ['DEL and line separators unescaped', '"\u007f\u2028"', '\u007f\u2028'],
    ['an exponent', '[1e2,1E+2,1.5e-2,0e0]', [100, 100, 0.015, 0]],
    ['negative zero', '-0', -0],
    ['a pair as character and as escapes', '["\u{1f600}","\\ud83d\\ude00"]', ['\u{1f600}', '\u{1f600}']],
  ])('%s', (_, text, expected) => {
    expect(parseJson(text)).toStrictEqual(expected)
  })
})

test('a number that would come back as another one is refused where it stands', () => {
  const message = 'a[0]: the number cannot be kept as it is written; write it as a string'
  expect(refusal('{"a":[9007199254740993]}')).toEqual({ path: 'a[0]', message })
  expect(parseJson('{"a":[9007199254740992]}')).toEqual({ a: [9007199254740992] })
})

describe('names are plain data', () => {
  test('__proto__ and constructor are own members and reach no prototype', () => {
    const value = parseJson('{"__proto__":{"admin":true},"constructor":1,"toString":2}')
    expect(Object.keys(value as object)).toEqual(['__proto__', 'constructor', 'toString'])
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype)
    expect((value as { admin?: true }).admin).toBeUndefined()
    expect(({} as { admin?: true }).admin).toBeUndefined()
  })

  test.each([
    ['{"a":1,"a":1}', 'a'],
    ['{"m":[{},{"a":1,"b":2,"a":3}]}', 'm[1].a'],
    ['{"\\u0061":1,"a":2}', 'a'],
    ['{"a":1,"\\u0061":2}', 'a'],
    ['{"/":1,"\\/":2}', '["/"]'],
    ['{"__proto__":1,"__proto__":2}', '__proto__'],
    ['{"":1,"":2}', '[""]'],
    ['{"1":1,"\\u0031":2}', '["1"]'],
  ])('%s repeats a name', (text, path) => {
    expect(refusal(text)).toEqual({ path, message: `${path}: the member name occurs twice in one object` })
  })

  test('a repeated name is refused in any escape spelling, anywhere', () => {
    const escaped = (name: string) =>
      name
        .split('')
        .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
        .join('')
    fc.assert(
      fc.property(fc.uniqueArray(plainText, { minLength: 1 }), fc.nat(), fc.boolean(), (names, pick, spelled) => {
        const twice = names[pick % names.length] ?? ''
        const members = names.map((name) => `${JSON.stringify(name)}:0`)
        const again = `${spelled ? `"${escaped(twice)}"` : JSON.stringify(twice)}:1`
        expect(refusal(`[{${[...members, again].join()}}]`).message).toMatch(/occurs twice in one object$/)
      }),
    )
  })
})

describe('refuses, with the path and the rule', () => {
  test.each([
    ['', '', 'not JSON: a value is expected at character 1'],
    [' ', '', 'not JSON: a value is expected at character 2'],
    ['{} {}', '', 'not JSON: the end of the text is expected at character 4'],
    ['\ufeff{}', '', 'not JSON: a value, and no byte order mark, is expected at character 1'],
    ['tru', '', 'not JSON: a value is expected at character 1'],
    ['nul', '', 'not JSON: a value is expected at character 1'],
    ['NaN', '', 'not JSON: a value is expected at character 1'],
    ["'a'", '', 'not JSON: a value is expected at character 1'],
    ['[1,]', '[1]', 'not JSON: a value is expected at character 4'],
    ['[1 2]', '[0]', 'not JSON: "," or "]" is expected at character 4'],
    ['{"a":1,}', '', 'not JSON: a member name is expected at character 8'],
    ['{a:1}', '', 'not JSON: a member name is expected at character 2'],
    ['{"a" 1}', 'a', 'not JSON: ":" is expected at character 6'],
    ['{"a":1;', 'a', 'not JSON: "," or "}" is expected at character 7'],
    ['{"a":{"b":[0,-]}}', 'a.b[1]', 'not JSON: a digit is expected at character 15'],
    ['[1.]', '[0]', 'not JSON: a digit is expected at character 4'],
    ['[1e+]', '[0]', 'not JSON: a digit is expected at character 5'],
    ['[01]', '[0]', 'not JSON: "," or "]" is expected at character 3'],
    ['[+1]', '[0]', 'not JSON: a value is expected at character 2'],
    ['"open', '', 'not JSON: the end of a string is expected at character 6'],
    ['"open\\', '', 'not JSON: the end of a string is expected at character 8'],
    ['["\\x"]', '[0]', 'not JSON: a string whose escapes are those of JSON is expected at character 2'],
    ['["\\u12g4"]', '[0]', 'not JSON: a string whose escapes are those of JSON is expected at character 2'],
    ['{"a":"x\ty"}', 'a', 'the text has a control character that is not escaped'],
    ['{"a":"x\0y"}', 'a', 'the text has a NUL character'],
    ['{"a":"x\\u0000y"}', 'a', 'the text has a NUL character'],
    ['{"\\u0000":1}', '', 'the text has a NUL character'],
    ['{"a":"\\ud83d"}', 'a', 'the text has a lone surrogate'],
    ['{"a":"\\ude00\\ud83d"}', 'a', 'the text has a lone surrogate'],
    ['{"a":"\ud83d"}', 'a', 'the text has a lone surrogate'],
    ['{"a":["\\ud83d","\\ude00"]}', 'a[0]', 'the text has a lone surrogate'],
    ['{"a":1e400}', 'a', NUMBER_RULE],
    ['{"a":-1e400}', 'a', NUMBER_RULE],
    [`{"a":1${'0'.repeat(309)}}`, 'a', NUMBER_RULE],
    ['{"a":"SECRET","b":0.12345678901234567890}', 'b', NUMBER_RULE],
  ])('%j', (text, path, rule) => {
    expect(refusal(text)).toEqual({ path, message: path === '' ? rule : `${path}: ${rule}` })
  })

  test('nesting beyond the limit, 64 unless told otherwise, before it is walked', () => {
    expect(parseJson('['.repeat(64) + ']'.repeat(64))).toBeInstanceOf(Array)
    expect(refusal('['.repeat(65)).message).toMatch(/: nested deeper than 64 levels$/)
    expect(refusal('{"a":'.repeat(10_000)).message).toMatch(/: nested deeper than 64 levels$/)
    expect(refusal('{"a":{"b":[]}}', { maxDepth: 2 })).toEqual({ path: 'a.b', message: 'a.b: nested deeper than 2 levels' })
    expect(parseJson('[[],[],[]]', { maxDepth: 2 })).toEqual([[], [], []])
  })

  test('never repeating a value', () => {
    for (const text of ['{"a":"SECRET\\u0000"}', '{"a":SECRET}', '{"a":"SECRET', '["SECRET" 1]', '{"a":"SECRET\\q"}']) {
      expect(refusal(text).message).not.toContain('SECRET')
    }
  })
})

test('arbitrary and mutated text is read or refused, never anything else', () => {
  const mutated = fc
    .tuple(plainValue, fc.nat(), fc.nat(4), fc.string({ unit: 'binary', maxLength: 3 }))
    .map(([value, at, cut, put]) => {
      const text = JSON.stringify(value)
      const from = at % (text.length + 1)
      return text.slice(0, from) + put + text.slice(from + cut)
    })
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.json(), mutated), (text) => {
      let value: unknown
      try {
        value = parseJson(text)
      } catch (error) {
        expect(error).toBeInstanceOf(JsonError)
        return
      }
      // Whatever is accepted is JSON, and means what it means to JSON.parse.
      expect(JSON.stringify(value)).toBe(JSON.stringify(JSON.parse(text)))
    }),
    { numRuns: 2000 },
  )
})

test('8 MB of a batch are read in a time that grows with their length alone', () => {
  const item = { reference_id: 'r-1', timestamp: '2026-02-03T09:00:00Z', text: 'word '.repeat(140), n: [1, 2.5, null] }
  const text = JSON.stringify({ message: { search_request: Array.from({ length: 10_000 }, () => item) } })
  expect(text.length).toBeGreaterThan(7_500_000)
  const start = processorTime()
  parseJson(text)
  expect(processorTime() - start).toBeLessThan(20_000)
})

test('isJsonObject knows objects from all else', () => {
  expect(isJsonObject({})).toBe(true)
  for (const other of [null, [], 'a', 1, true, undefined]) expect(isJsonObject(other)).toBe(false)
})

describe('bounds are counted while a text is read', () => {
  const problem = (text: string, bounds: JsonBounds): string => {
    try {
      parseJson(text, bounds)
    } catch (error) {
      expect(error).toBeInstanceOf(JsonError)
      return (error as JsonError).message
    }
    return ''
  }

  test('values, however they are nested, and nothing behind the last one is looked at', () => {
    expect(parseJson('[1,[2],{"a":null}]', { maxValues: 6 })).toEqual([1, [2], { a: null }])
    for (const text of ['[1,[2],{"a":null},x', '[[[[[[[', '{"a":{"b":{"c":{"d":{"e":{"f":x']) {
      expect(problem(text, { maxValues: 6 })).toBe('must have at most 6 values')
    }
  })

  test('names of any one object', () => {
    const bounds = { maxNames: 2 }
    expect(parseJson('[{"a":1,"b":2},{"c":3,"d":4}]', bounds)).toHaveLength(2)
    expect(problem('{"x":[{"a":1,"b":2,"c', bounds)).toBe('x[0]: must have at most 2 names')
  })

  describe('values outside the member that may hold many', () => {
    const bulk = { paths: [['message', 'items']], maxItems: 3, maxOutside: 4 }
    const bounds = { bulk, maxValues: 20 }

    test('may be few, before it and behind it', () => {
      const text = '{"message":{"items":[[1,2,3],[4,5,6],[7]],"a":1},"b":2}'
      expect(parseJson(text, bounds)).toEqual(JSON.parse(text))
      for (const more of [
        '{"x":[1,2,3,4',
        '{"message":{"items":[[1,2,3]],"a":1},"b":2,"c":3',
        '{"message":{"a":[1,2,3',
        '{"message":{"a":{"items":[1,2',
        '{"message":[{"items":[1,2',
        '{"items":[1,2,3,4',
      ]) {
        expect(problem(more, bounds)).toBe('must have at most 4 values outside message.items')
      }
    })

    test('inside, all that a text may have', () => {
      const text = `{"message":{"items":[[${'1,'.repeat(30)}`
      expect(problem(text, bounds)).toBe('must have at most 20 values')
    })

    test('and so many items, after which nothing is looked at', () => {
      expect(problem('{"message":{"items":[1,2,3,x', bounds)).toBe('message.items: must have at most 3 items')
      expect(() => parseJson('{"message":{"items":[1,2,3,x', bounds)).toThrow(TooManyItems)
    })

    test('is any value, and no array has to stand there', () => {
      const text = '{"message":{"items":{"a":[1,2,3,4,5,6]}}}'
      expect(parseJson(text, bounds)).toEqual(JSON.parse(text))
    })
  })

  test('change nothing of a text that keeps within them', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        const bounds = { maxValues: 100_000, maxNames: 10_000, bulk: { paths: [['a'], ['']], maxOutside: 1e6 } }
        expect(parseJson(text, bounds)).toEqual(parseJson(text))
      }),
    )
  })
})

describe('the beginning of a text', () => {
  const problem = (text: string, bounds = {}) => jsonBeginningProblem(text, bounds)?.message ?? null

  test('has no problem where the whole text has none, wherever it is cut', () => {
    fc.assert(
      fc.property(fc.json(), fc.nat(), (text, at) => {
        fc.pre(problem(text) === null)
        expect(problem(text.slice(0, at % (text.length + 1)))).toBeNull()
      }),
    )
  })

  test.each(['9007199254740993000', '-1e300', '[true', '{"a":fals', '"a\\', '"\\ud83d', '{"a', ''])(
    '%s may be the beginning of a text in order',
    (text) => {
      for (let end = 0; end <= text.length; end += 1) expect(problem(text.slice(0, end))).toBeNull()
    },
  )

  test.each([
    ['{"a":1,"a":2', {}, 'a: the member name occurs twice in one object'],
    ['[1,2,3', { maxValues: 3 }, 'must have at most 3 values'],
    ['{"a":1,"b":2', { maxNames: 1 }, 'must have at most 1 names'],
    ['[[[1', { maxDepth: 2 }, '[0][0]: nested deeper than 2 levels'],
    ['[truth', {}, '[0]: not JSON: a value is expected at character 2'],
  ])('%s is refused without the rest', (text, bounds, message) => {
    expect(problem(text, bounds)).toBe(message)
  })
})
