import { StoreRefusal, StoreUnavailable } from '@rollcall/database/refusal'
import { RequestFailed } from '@rollcall/participants/egress/problems'
import Type from 'typebox'
import { describe, expect, test } from 'vitest'
import { adminFunctions } from '../test/admin-functions.ts'
import { AdminRefusal, defineAdminFunction } from './admin-function.ts'
import { closed } from './members.ts'

const schemas = { input: closed({ name: Type.String(), more: Type.Optional(Type.Integer()) }), result: Type.Array(Type.String()) }

describe('an admin function', () => {
  const given = defineAdminFunction(schemas, async (_: object, input) => Object.keys(input))

  test('takes what is undefined as not given', async () => {
    expect(await given({}, { name: 'a', more: undefined })).toEqual(['name'])
  })

  test.each([
    [{ name: 'a', other: 1 }, 'other: is not a known member'],
    [{ name: 'a', more: 0.5 }, 'more: must be a whole number'],
    [{ more: 1 }, 'name: is required'],
    ['a', 'must be an object'],
    [null, 'must be an object'],
  ])('refuses %j, with the member and the rule', async (input, message) => {
    await expect(given({}, input as never)).rejects.toThrow(new AdminRefusal(message))
  })

  test('refuses with one class what the rooms below refuse, and passes on what else goes wrong', async () => {
    const failing = (error: Error) =>
      defineAdminFunction(schemas, async () => {
        throw error
      })({}, { name: 'a' })
    await expect(failing(new StoreRefusal('no'))).rejects.toThrow(new AdminRefusal('no'))
    const away = failing(new StoreUnavailable('not now'))
    await expect(away).rejects.toMatchObject({ reason: 'unavailable', message: 'not now' })
    const unresolved = new AdminRefusal('the name of the host cannot be resolved')
    await expect(failing(new RequestFailed('unresolved'))).rejects.toThrow(unresolved)
    const own = new TypeError('ours')
    await expect(failing(own)).rejects.toBe(own)
  })
})

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
  readonly additionalProperties?: unknown
  readonly description?: string
  readonly 'x-personal-data'?: true
}

/** A schema and those in it, each with its path, such as `made.answer`. */
function withParts(schema: Schema, path: string): [path: string, part: Schema][] {
  const members = Object.entries(schema.properties ?? {}).flatMap(([name, member]) =>
    withParts(member, path === '' ? name : `${path}.${name}`),
  )
  const others = [...(schema.anyOf ?? []), ...(schema.items ? [schema.items] : [])]
  return [[path, schema], ...members, ...others.flatMap((part) => withParts(part, path))]
}

const adminFunctionRows = (await adminFunctions()).map(([name, { input, result }]): [string, Schema, Schema] => [
  name,
  input,
  result,
])

describe('every admin function', () => {
  test.each(adminFunctionRows)('%s describes each member of its input, and takes no others', (_name, input) => {
    expect(input.additionalProperties).toBe(false)
    const members = Object.entries(input.properties ?? {})
    const described = (schema: Schema): boolean => schema.description !== undefined || (schema.anyOf?.some(described) ?? false)
    expect(members.filter(([, member]) => !described(member)).map(([name]) => name)).toEqual([])
  })

  test('marks what may be personal data', () => {
    const marked = adminFunctionRows.flatMap(([name, input, result]) =>
      [...withParts(input, 'input'), ...withParts(result, 'result')]
        .filter(([, part]) => part['x-personal-data'] === true)
        .map(([path]) => `${name} ${path}`),
    )
    expect(marked.toSorted()).toEqual([
      'addHold input.person',
      'approveProposal result.result',
      'auditPerson input.value',
      'auditPerson result.asked.case',
      'auditPerson result.asked.reason',
      'auditPerson result.asked.requested_by',
      'auditPerson result.seen.case',
      'auditPerson result.seen.reason',
      'auditPerson result.seen.requested_by',
      'auditPerson result.written.case',
      'auditPerson result.written.reason',
      'auditPerson result.written.requested_by',
      'cancelSubscription result.criteria',
      'deleteRecords input.identifiers',
      'erasePerson input.value',
      'explainQuery input.query',
      'explainQuery result.plan',
      'explainQuery result.tree',
      'explainQuery result.values',
      'listEmergencies result.case',
      'listEmergencies result.reason',
      'listEmergencies result.requested_by',
      'listEmergencies result.reviews.note',
      'listProtectedPersons result.identifier_value',
      'listProtectedPersons result.reason',
      'listSourceRejects input.after',
      'listSourceRejects result.key',
      'mergeRecords input.retired',
      'mergeRecords input.survivor',
      'openBodies input.reason',
      'openBodies result.bodies.body',
      'openDeliveryBody input.reason',
      'openDeliveryBody result.body',
      'protectPerson input.identifier_value',
      'protectPerson input.reason',
      'publishEvent input.record',
      'publishEvent input.remove',
      'reinstateConsent input.identifier_value',
      'reportAccess input.value',
      'reportAccess result.html',
      'reportAccess result.report',
      'reportAccess result.report.identifier',
      'reviewEmergency input.note',
      'reviewEmergency result.note',
      'showDelivery result.body',
      'showDelivery result.made.answer',
      'showInboxMessage result.body',
      'showProposal result.confidential',
      'showRecord input.value',
      'showRecord result.record',
      'showSubscription result.criteria',
      'trySearch input.expression',
      'trySearch input.graphql',
      'trySearch input.identifier',
      'trySearch input.predicate',
      'trySearch result.body',
      'trySearch result.curl',
      'trySearch result.envelope',
      'trySearch result.java',
      'trySearch result.python',
      'trySearch result.reply',
      'trySearch result.signature.bytes',
      'trySearch result.typescript',
      'unmergeRecords input.retired',
      'unprotectPerson input.identifier_value',
      'withdrawConsent input.identifier_value',
    ])
  })
})
