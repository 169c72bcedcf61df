import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { JsonError } from '../json-error.ts'
import { SourcedEnvelope, sortedAsciiJsonText, sortedJsonText } from './source.ts'

describe('SourcedEnvelope', () => {
  const text = ' { "a" : "}\\"]" , "message":\n[ 1.0 , {"x\\\\" : "{" } ]\t,"header": {"n":-1E+2} } '
  const envelope = new SourcedEnvelope(text)

  test('gives values and the text they were read from', () => {
    expect(envelope.text).toBe(text)
    expect(envelope.member('message')).toEqual([1, { 'x\\': '{' }])
    expect(envelope.source('message')).toBe('[ 1.0 , {"x\\\\" : "{" } ]')
    expect(envelope.member('header')).toEqual({ n: -100 })
    expect(envelope.source('header')).toBe('{"n":-1E+2}')
    expect(envelope.member('signature')).toBeUndefined()
  })

  test.each(['7', '"header"', 'true', '-0.5e1'])('finds scalars: %s', (scalar) => {
    expect(new SourcedEnvelope(`{"header":${scalar},"message":null}`).source('header')).toBe(scalar)
    expect(new SourcedEnvelope(`{"message":null,"header":${scalar}}`).source('header')).toBe(scalar)
  })

  test('looks at members of its own and of the top alone', () => {
    expect(new SourcedEnvelope('{"x":{"header":1}}').member('header')).toBeUndefined()
    expect(() => new SourcedEnvelope('{"x":{"header":1}}').source('header')).toThrow(
      new RangeError('the envelope has no member header'),
    )
    expect(() => new SourcedEnvelope('["header"]').source('header')).toThrow(RangeError)
    expect(new SourcedEnvelope('{}').member('constructor')).toBeUndefined()
  })

  test('finds a member by its name, however it is spelt', () => {
    expect(new SourcedEnvelope('{"\\u0068eader":{"a":1}}').source('header')).toBe('{"a":1}')
  })

  test('refuses what parseJson refuses, another text under the same limits too', () => {
    expect(() => new SourcedEnvelope('{"header":1,"header":2}')).toThrow(
      new JsonError('header', 'the member name occurs twice in one object'),
    )
    const shallow = new SourcedEnvelope('[]', { maxDepth: 1 })
    expect(shallow.another('[1]').value).toEqual([1])
    expect(() => shallow.another('[[1]]')).toThrow('nested deeper than 1 levels')
  })

  test('gives back any text of any member', () => {
    fc.assert(
      fc.property(fc.json(), fc.json(), fc.constantFrom('', ' ', '\n\t'), (header, message, blank) => {
        const text = `{${blank}"x":${header},"header"${blank}:${header}${blank},"message":${blank}${message}}`
        const envelope = new SourcedEnvelope(text)
        expect(envelope.source('header')).toBe(header)
        expect(envelope.source('message')).toBe(message)
      }),
      { numRuns: 200 },
    )
  })
})

describe('sortedUnescaped writes what json.dumps with sort_keys and without ensure_ascii writes', () => {
  test.each([
    ['{ "b" : [ 3.0 , 1E+21 ] , "a" : { } }', '{"a":{},"b":[3.0,1E+21]}'],
    ['"Zo\\u00eb \\u738b 王"', '"Zoë 王 王"'],
    ['"\\ud83d\\ude00"', '"\u{1f600}"'],
    ['"\\/ \\" \\\\ \\b\\f\\n\\r\\t \\u0001\\u001F\u007f\u2028"', '"/ \\" \\\\ \\b\\f\\n\\r\\t \\u0001\\u001f\u007f\u2028"'],
    ['{"\u{1f600}":1,"\ufb00":2,"z":3}', '{"z":3,"\ufb00":2,"\u{1f600}":1}'],
  ])('%s', (text, expected) => {
    expect(sortedJsonText(text)).toBe(expected)
  })
})

describe('sortedEscaped writes what json.dumps with sort_keys writes', () => {
  test.each([
    ['{ "b" : [ 1 , 2 ] , "a" : { } }', '{"a":{},"b":[1,2]}'],
    ['[3.0,1e-7,1E+21,-0,12345678901234567890,true,null]', '[3.0,1e-7,1E+21,-0,12345678901234567890,true,null]'],
    ['"Zoë \\u738b 王"', '"Zo\\u00eb \\u738b \\u738b"'],
    ['"\u{1f600}"', '"\\ud83d\\ude00"'],
    ['"\\/ \\" \\\\ \\b\\f\\n\\r\\t \\u0001\\u001F\u007f\u2028"', '"/ \\" \\\\ \\b\\f\\n\\r\\t \\u0001\\u001f\\u007f\\u2028"'],
    ['{"\u{1f600}":1,"\ufb00":2,"z":3,"za":4}', '{"z":3,"za":4,"\\ufb00":2,"\\ud83d\\ude00":1}'],
    ['{"\ud7ff":1,"\ue000":2,"\u{10000}":3}', '{"\\ud7ff":1,"\\ue000":2,"\\ud800\\udc00":3}'],
    ['{"\u{10001}":1,"\u{10000}":2}', '{"\\ud800\\udc00":2,"\\ud800\\udc01":1}'],
    ['{"__proto__":1,"":2}', '{"":2,"__proto__":1}'],
    [' [ ] ', '[]'],
  ])('%s', (text, expected) => {
    expect(sortedAsciiJsonText(text)).toBe(expected)
  })

  test('keeps values, is ASCII, and changes nothing the second time', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        const canonical = sortedAsciiJsonText(text)
        expect(JSON.parse(canonical)).toEqual(JSON.parse(text))
        expect(canonical).toMatch(/^[ -~]*$/)
        expect(sortedAsciiJsonText(canonical)).toBe(canonical)
      }),
      { numRuns: 200 },
    )
  })
})
