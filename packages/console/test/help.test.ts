/** The help has what the pages link to. */
import { CODES } from '@rollcall/protocol'
import { expect, it } from 'vitest'
import { TIMELINE_STEPS } from '../../admin/src/messages/steps.ts'
import { HELP_NAMES, helpDocument } from '../build/help.ts'
import type { HelpNode } from '../src/pages/help/tree.ts'
import { codeAddress, helpAddress } from '../src/parts/help-address.ts'

/** Every element below a node, itself included. */
const below = (node: HelpNode): Exclude<HelpNode, string>[] =>
  typeof node === 'string' ? [] : [node, ...node.children.flatMap(below)]

const documents = await Promise.all(
  HELP_NAMES.map(async (name) => {
    const { title, nodes } = await helpDocument(name)
    return { name, title, elements: nodes.flatMap(below) }
  }),
)

const addresses = new Set(
  documents.flatMap(({ name, elements }) => [
    helpAddress(name),
    ...elements.flatMap(({ id }) => (id === undefined ? [] : [helpAddress(name, id)])),
  ]),
)

it('every document has a title and sections', () => {
  for (const { name, title, elements } of documents) {
    expect(title, name).not.toBe(name)
    expect(elements.filter(({ tag }) => tag === 'h2').length, name).toBeGreaterThan(1)
  }
})

it('every step of a timeline and every code of the protocol has a section', () => {
  const wanted = [
    ...TIMELINE_STEPS.map((step) => helpAddress('message-flow', step)),
    ...CODES.map(({ code }) => codeAddress(code)),
  ]
  expect(wanted.filter((address) => address === null || !addresses.has(address))).toEqual([])
  expect(codeAddress('connection_refused')).toBeNull()
})

it('no link of a document is dead, and none leaves the console', () => {
  const links = documents.flatMap(({ elements }) => elements.flatMap(({ href }) => href ?? []))
  expect(links.length).toBeGreaterThan(20)
  expect(links.filter((link) => !addresses.has(link))).toEqual([])
})
