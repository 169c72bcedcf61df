/** Values that mutations put in place of others. Values and names are raw JSON lexemes, and some are no JSON. */
import { FIXTURES } from './mutation-records.ts'

const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth)
const strings = (...texts: string[]): string[] => texts.map((text) => JSON.stringify(text))

/** Values of every other type, at every edge, and in every language that might be spoken behind the server. */
export const HOSTILE_VALUES: readonly string[] = [
  ...['null', 'true', 'false', '""', '" "', '[]', '{}', '[[]]', '[{}]', '[null]', '[""]', '{"":""}'],
  ...['0', '-0', '-1', '1', '2', '10', '100', '101', '1.5', '1.0', '1e2', '1e-400', '1e300', '1e400', '-1e400'],
  ...['2147483647', '2147483648', '9007199254740993', '-9007199254740993', '9'.repeat(300), '9'.repeat(400)],
  ...['01', '+1', '.5', '0x10', 'NaN', 'Infinity', 'undefined', "'x'", 'nul', '"\\x"', '"\\ud800"', '"\\udc00x"'],
  ...['"\\u0000"', '"a\\u0000b"', '"\u0001"', '"\\ud83d\\ude00"', '"', '{"a":1,"\\u0061":2}', '{"a"', '[1', ''],
  ...strings('__proto__', 'constructor', 'toString', 'hasOwnProperty', 'prototype', 'valueOf', '[object Object]'),
  ...strings('%', '_', '*', '?', '\\', "'", '"', ';', '--', '$1', '$$', '`', '77120_', '7712%', '77120904%'),
  ...strings("' or '1'='1", "'; drop table participant; --", '") or true --', 'a\\', "77120901' --", '*/ or /*'),
  ...strings('$', '$.**', '$[*] ? (@ like_regex ".*")', '{"$gt":""}', '#{7*7}', '{{7*7}}', '../../etc/passwd'),
  ...strings('2026-02-03T09:15:00', '2026-02-31T00:00:00Z', '0000-01-01T00:00:00Z', '9999-12-31T23:59:60Z'),
  ...strings('search', 'on-search', 'subscribe', 'Search', '1.0.0', '2.0.0', 'eng', 'EN', 'true', '1', '-1', '1e3'),
  ...strings('Person', 'Member', 'Group', 'x:Group', 'ns:org:RegistryType:Civil', ':', '::', 'UIN', ':UIN', 'PHONE'),
  ...strings('idtype-value', 'idtype', 'expression', 'predicate', 'graphql', 'asc', 'DESC', 'birth_date', 'sex'),
  ...strings('x'.repeat(99), 'x'.repeat(100), 'x'.repeat(256), 'x'.repeat(257), 'x'.repeat(1_000), 'x'.repeat(70_000)),
  // 99 UTF-16 units end in the middle of a pair; one grapheme of many code points; characters that grow in case.
  ...strings(`x${'😀'.repeat(60)}`, '😀'.repeat(60), `e${'\u0301'.repeat(500)}`, 'ŉ'.repeat(256), 'ß'.repeat(200)),
  ...strings('ﷺ'.repeat(200), 'İ', '\u2028\u2029', '\ufeff', '\u202e', '\u200b', '７７１２０９０１', '\u0085', '\r\n'),
  '{"$ne":null}',
  '{"$gt":""}',
  '{"__proto__":{"admin":true}}',
  '{"constructor":{"prototype":{"x":1}}}',
  '{"toString":null,"length":-1}',
  '{"length":1e9}',
  '{"type":"UIN","value":"77120901"}',
  '{"type":"UIN","value":{"$ne":""}}',
  '{"identifier_type":"UIN","identifier_value":77120901}',
  '{"field":"UIN","operator":"ne","value":"77120901"}',
  '{"field":"UIN","operator":"eq","value":["77120901","77120%"]}',
  '{"type":"idtype-value","value":{"id_type":"UIN","id_value":"77120901"}}',
  '{"page_size":1,"page_number":2147483647}',
  '{"page_size":9007199254740993}',
  '{"alg":"","enc":"","kid":""}',
  '[{"attribute_name":"birth_date"},{"attribute_name":"birth_date"}]',
  '[{"attribute_name":"sex","sort_order":"desc"},{"attribute_name":"__proto__"}]',
  `[${Array(200).fill('null').join(',')}]`,
  ...[40, 58, 64, 65, 500, 20_000].map(nested),
]

/** Values that name a person. */
export const KNOWN_VALUES: readonly string[] = [
  ...new Set(FIXTURES.flatMap(({ bears }) => bears.flatMap(([type, value]) => strings(type, value, ` ${value.toLowerCase()} `)))),
]

export const HOSTILE_NAMES: readonly string[] = [
  ...strings('__proto__', 'constructor', 'toString', 'length', '', ' ', '0', '$where', 'then', 'toJSON', 'x'.repeat(5_000)),
  ...strings('headers', 'is_encrypted', 'value', 'type', 'query', 'filter', 'pagination', 'sort', 'item.0', 'a/b~c', '😀'),
  ...strings('search_request', 'search_criteria', 'reference_id', 'response_entity', 'reg_record_type', 'ciphertext'),
  ...['"\\u0074ype"', '"\\u0076alue"', '"\\ud800"', '"\\u0000"', 'bare', '1', 'null'],
]

export const SOME_BYTES: readonly Buffer[] = [
  ...[[0], [0xff], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xef, 0xbb, 0xbf], [0x7f], [0x0b]],
].map((bytes) => Buffer.from(bytes))
export const SOME_TEXTS = ['"', '\\', '{', '}', '[', ']', ',', ':', '\\u0000', '/**/', '//', '\n', '9', 'e', '-', '"x":1,', '\0']
