/** What each canonical form takes for the same and what for another message. */
import { HEADER, MESSAGE, PROFILES, replaced } from './cases.ts'
import { ASTRAL, type Cases, NAMES, NO_MATCH, NUMBERS } from './common-cases.ts'

const { sorted, unescaped, received } = PROFILES

/** A record with a whole float and a name beyond ASCII. */
const WHOLE_FLOAT = '{"name":"Zoë 王","amount":3.0}'

export const canonicalForms: Cases[string] = {
  'numbers: rfc8785 signs their values': {
    'as signed': { message: NUMBERS },
    'spelt otherwise': {
      message: NUMBERS,
      sent: { message: '{"minus":-5e-1,"three":3,"small":0.0000001,"big":1000000000000000000000.0}' },
    },
    'another value': { message: NUMBERS, sent: { message: replaced(NUMBERS, '1e-7', '1e-8') }, invalid: NO_MATCH },
  },
  'numbers: sorted-escaped signs how they are written': {
    'as signed': { profile: sorted, message: NUMBERS },
    'in another order': {
      profile: sorted,
      message: NUMBERS,
      sent: { message: '{"minus":-0.50, "three":3.0, "small":1e-7, "big":1E+21}' },
    },
    '3 for 3.0': { profile: sorted, message: NUMBERS, sent: { message: replaced(NUMBERS, '3.0', '3') }, invalid: NO_MATCH },
  },
  'sorted-unescaped signs numbers as they are written and text as characters': {
    'as signed': { profile: unescaped, message: WHOLE_FLOAT },
    'in another order and with escapes': {
      profile: unescaped,
      message: WHOLE_FLOAT,
      sent: { message: '{ "name": "Zo\\u00eb \\u738b", "amount": 3.0 }' },
    },
    '3 for 3.0': {
      profile: unescaped,
      message: WHOLE_FLOAT,
      sent: { message: replaced(WHOLE_FLOAT, '3.0', '3') },
      invalid: NO_MATCH,
    },
    'made over escapes': { profile: unescaped, signed_as: sorted, message: WHOLE_FLOAT, invalid: NO_MATCH },
    'made over the values of numbers': {
      profile: unescaped,
      signed_as: PROFILES.default,
      message: WHOLE_FLOAT,
      invalid: NO_MATCH,
    },
  },
  'numbers: integers beyond 2^53-1': {
    'rfc8785 signs one that a double holds': { message: '{"n":9007199254740992}' },
    'spelt otherwise': {
      message: '{"a":9007199254740992,"b":1e16,"c":100000000000000000000}',
      sent: { message: '{"a":9007199254740992.0,"b":10000000000000000,"c":1E20}' },
    },
    'another one that a double holds': {
      message: '{"n":9007199254740992}',
      sent: { message: '{"n":9007199254740994}' },
      invalid: NO_MATCH,
    },
    'one that no double holds': {
      message: '{"n":9007199254740992}',
      sent: { message: '{"n":9007199254740993}' },
      invalid: 'the body is no JSON that is read here',
    },
    'sorted-escaped signs its digits': { profile: sorted, message: '{"n":12345678901234567000}' },
    'other digits, the same number': {
      profile: sorted,
      message: '{"n":12345678901234567000}',
      sent: { message: '{"n":12345678901234567e3}' },
      invalid: NO_MATCH,
    },
  },
  'non-ASCII and escapes: rfc8785 signs characters': {
    'as signed': { message: NAMES },
    'spelt with escapes': {
      message: NAMES,
      sent: { message: '{"note":"a\u2028b/c\u007f\\u000a","name":"Zo\\u00eb Μαρία \\u738b"}' },
    },
    'e and a combining diaeresis are not ë': {
      message: NAMES,
      sent: { message: replaced(NAMES, 'ë', 'e\u0308') },
      invalid: NO_MATCH,
    },
  },
  'non-ASCII and escapes: sorted-escaped signs \\uXXXX': {
    'as signed': { profile: sorted, message: NAMES },
    'spelt otherwise': {
      profile: sorted,
      message: NAMES,
      sent: { message: '{"note":"a\u2028b/c\u007f\\u000a","name":"Zo\\u00EB Μαρία \\u738b"}' },
    },
    'made over the characters themselves': { profile: sorted, signed_as: PROFILES.default, message: NAMES, invalid: NO_MATCH },
  },
  'astral member names': {
    'rfc8785 sorts by UTF-16 code units': { message: ASTRAL },
    'sorted-escaped sorts by code points': { profile: sorted, message: ASTRAL },
    'sorted by code points for rfc8785': {
      message: '{"z":3,"\ufb00":2,"\u{1f600}":1}',
      signed_as: received,
      header: replaced(HEADER, HEADER, sortedHeader()),
      invalid: NO_MATCH,
    },
  },
  'as-received signs the text': {
    'with its white space': { profile: received, message: '{ "b": 1.0,\n "a": [ 2, "\\u0061" ] }' },
    'white space around the values is not of them': {
      profile: received,
      message: '{"a":1}',
      body: (signature) => `{ "message" : {"a":1} , "signature":${JSON.stringify(signature)},\n"header":\t${HEADER} }`,
    },
    'one blank more': { profile: received, message: '{"b":1}', sent: { message: '{"b": 1}' }, invalid: NO_MATCH },
    'another order': { profile: received, message: '{"b":1,"a":2}', sent: { message: '{"a":2,"b":1}' }, invalid: NO_MATCH },
  },
  'one member name, one member': {
    'names that differ': { message: '{"a":1,"A":2}' },
    'the same name twice': {
      message: '{"a":1}',
      sent: { message: '{"a":1,"\\u0061":2}' },
      invalid: 'the body is no JSON that is read here',
    },
    'the same part twice': {
      body: (signature) => `{"signature":${JSON.stringify(signature)},"header":${HEADER},"message":{},"message":${MESSAGE}}`,
      invalid: 'the body is no JSON that is read here',
    },
  },
}

/** HEADER as RFC 8785 writes it, to vary nothing but the message. */
function sortedHeader(): string {
  const members = Object.entries(JSON.parse(HEADER) as Record<string, unknown>)
  return JSON.stringify(Object.fromEntries(members.sort(([one], [other]) => (one < other ? -1 : 1))))
}
