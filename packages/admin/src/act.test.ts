/** THE table of acts is walked: each has a caller, or is refused; each of the other functions is named here, with its reason. */
import type { AuditEntry } from '@rollcall/core/model/audit-entry'
import type { Operator } from '@rollcall/core/model/operator'
import Type from 'typebox'
import { describe, expect, test } from 'vitest'
import { acting } from '../test/acting.ts'
import { adminFunctions } from '../test/admin-functions.ts'
import { defineAct } from './act.ts'
import { AdminRefusal } from './admin-function.ts'
import { closed } from './members.ts'

const functions = await adminFunctions()
const acts = functions.flatMap(([name, made]) => (made.act === null ? [] : [[name, made.act.name, made] as const]))

/** Functions without a caller and without an entry, by the reason. */
const QUESTIONS: Readonly<Record<string, readonly string[]>> = {
  'it changes nothing, and shows no person': [
    ...['examineDatabase', 'listFindings', 'listSettings', 'showOverview', 'showRetention'],
    ...['listRegistries', 'showRegistry', 'showSamples', 'listAttributes', 'listIdentifierTypes'],
    ...['listParticipants', 'showParticipant', 'listParticipantHosts', 'listParticipantKeys', 'listPublicKeys'],
    ...['readPublicKeys', 'listOwnKeys', 'listAuditSigningKeys', 'listOperators', 'listSessions'],
    ...['listGrants', 'listExpiringGrants', 'explainGrant', 'showGrantTemplate', 'listGrantTemplates', 'previewGrant'],
    ...[
      'proposeMapping',
      'checkSource',
      'checkRegistrySource',
      'proposeSource',
      'planIndexes',
      'exportConfiguration',
      'showIndexBuild',
      'listPurposes',
    ],
    ...['listConsentAuthorities', 'listProposals', 'listSubscriptions', 'listDeliveries', 'listDestinations'],
    ...['listMailboxes', 'showOutbox', 'showVerification', 'verifyWholeAuditLog'],
    'showSourceStatus',
  ],
  'it reads a file, and no database': ['verifyBackup', 'verifyEvidence'],
  'it shows a participant what is its own, and no person': [
    ...[
      'showOwnParticipant',
      'showChecklist',
      'listOwnGrants',
      'listExampleSearches',
      'listOwnSubscriptions',
      'listOwnDeliveries',
    ],
    'showOwnDelivery',
  ],
  'there may be no table yet to write an entry into': ['migrateDatabase'],
}

test('every other function is an act', () => {
  const others = functions.flatMap(([name, made]) => (made.act === null ? [name] : []))
  expect(Object.values(QUESTIONS).flat().toSorted()).toEqual(others.toSorted())
})

/** An admin function, whatever it is given. */
type Called = (deps: unknown, input: unknown) => Promise<unknown>

const refusal = (made: unknown, deps: unknown): Promise<unknown> =>
  (made as Called)(deps, {}).then(
    () => 'done',
    (error: unknown) => (error instanceof AdminRefusal ? [error.reason, error.message] : error),
  )

describe.each(acts)('%s', (_function, name, made) => {
  test('is refused without a caller, without an audit log, without a word on approvals, and to who may not do it', async () => {
    const participant = { kind: 'participant', sender_id: 'a.example' } as const
    const isOfParticipants = name === 'partner replay'
    const whole = acting(isOfParticipants ? { caller: participant } : {})
    const without = `${name}: it needs a caller, an audit log and a word on approvals`
    for (const member of ['caller', 'auditLog', 'approvals'] as const) {
      expect(await refusal(made, { ...whole, [member]: undefined })).toEqual(['forbidden', without])
    }
    for (const kind of ['nobody', 'constructor']) {
      const message = `${name}: a caller of the kind ${kind} may not do it`
      expect(await refusal(made, { ...whole, caller: { kind } })).toEqual(['forbidden', message])
    }
    const caller = isOfParticipants ? acting({}).caller : participant
    const message = `${name}: a caller of the kind ${caller.kind} may not do it`
    expect(await refusal(made, { ...whole, caller })).toEqual(['forbidden', message])
  })
})

describe('an act', () => {
  const terms = { name: 'tried', approval: 'never', input: closed({}), result: closed({ done: Type.Boolean() }) } as const
  const tried = defineAct(terms, async () => ({ done: true }))
  const operator: Operator = { id: 1, name: 'ops', roles: ['read'], registries: null, authority: null }

  test('that leaves no entry is a failure', async () => {
    const forgets = defineAct({ ...terms, entry: 'within' }, async () => ({ done: true }))
    await expect(forgets(acting({}), {})).rejects.toThrow('the act tried left no entry')
  })

  test('is not begun where its entry cannot be written', async () => {
    let begun = false
    const late = defineAct(terms, async () => {
      begun = true
      return { done: true }
    })
    const auditLog = { write: () => Promise.reject(new Error('no audit log')) }
    await expect(late(acting({ auditLog }), {})).rejects.toThrow('no audit log')
    expect(begun).toBe(false)
  })

  test('that an open page repeats leaves another entry only with details', async () => {
    const notes: unknown[] = []
    const deps = acting({
      caller: { kind: 'operator', operator, isRepeatedAccess: true } as const,
      auditLog: { write: async ({ note }: AuditEntry) => void notes.push(note) },
    })
    await tried(deps, {})
    const within = (details?: { note: string }) =>
      defineAct({ ...terms, entry: 'within' }, async (_deps, _input, enter) => {
        await enter(details)
        return { done: true }
      })
    await within()(deps, {})
    expect(notes).toEqual([])
    await within({ note: 'a person' })(deps, {})
    expect(notes).toEqual(['a person'])
  })

  test('needs a caller by its type', async () => {
    const { caller: _, ...nobody } = acting({})
    // @ts-expect-error nobody is named who does it
    await expect(tried(nobody, {})).rejects.toThrow(AdminRefusal)
  })
})
