import { expect, it } from 'vitest'
import { yamlName } from './yaml-text.ts'

it.each([
  ['family_name', 'family_name'],
  ['identifier[UIN]', 'identifier[UIN]'],
  ['Family name', 'Family name'],
  [' spaces ', '" spaces "'],
  ['a: b', '"a: b"'],
  ['null', '"null"'],
  ['True', '"True"'],
  ['on', 'on'],

  ['note', 'note'],
])('%j is written as %s, so that YAML reads it as a text', (name, written) => {
  expect(yamlName(name)).toBe(written)
})
