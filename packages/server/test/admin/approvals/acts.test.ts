/** Every admin function that says that it may wait has a row that says when, and each row is of one. */

import { hasRole } from '@rollcall/core/model/operator'
import { expect, test } from 'vitest'
import { APPROVABLE_ACTS } from '../../../../admin/src/approvals/acts.ts'
import { adminFunctions } from '../../../../admin/test/admin-functions.ts'
import { ADMIN_ROUTES } from '../../../src/http/admin/routes.ts'

/** Every admin function, by the name of its export. */
const FUNCTIONS = new Map(await adminFunctions())

test('each act has one row', () => {
  const names = [...FUNCTIONS.values()].flatMap(({ act }) => (act === null || act.approval === 'never' ? [] : act.name))
  expect(APPROVABLE_ACTS.map(({ act }) => act.name).toSorted()).toEqual(names.toSorted())
  expect(new Set(names).size).toBe(names.length)
})

/** Admin functions that never wait, by the reason. A new function waits, or has its reason here. */
const ALONE: Readonly<Record<string, readonly string[]>> = {
  'it changes nothing and names no person': [
    ...['examineDatabase', 'listFindings', 'listSettings', 'showOverview', 'showRetention', 'countPrunable'],
    ...['listRegistries', 'showRegistry', 'showSamples', 'listAttributes', 'listIdentifierTypes'],
    ...['listParticipants', 'showParticipant', 'listParticipantHosts', 'listParticipantKeys', 'listPublicKeys'],
    ...['readPublicKeys', 'listOwnKeys', 'listAuditSigningKeys', 'listOperators', 'listSessions'],
    ...['listGrants', 'listExpiringGrants', 'explainGrant', 'showGrantTemplate', 'listGrantTemplates', 'previewGrant'],
    ...['proposeGrant', 'proposeMapping', 'explainQuery', 'planIndexes', 'exportConfiguration', 'showIndexBuild'],
    ...[
      'checkSource',
      'checkRegistrySource',
      'proposeSource',
      'listPurposes',
      'listConsentAuthorities',
      'listHolds',
      'listProposals',
      'listSubscriptions',
    ],
    ...['listDeliveries', 'listDestinations', 'listMailboxes', 'listMessages', 'showMessage', 'listInbox'],
    ...['listEvents', 'showOutbox', 'listAuditEntries', 'verifyWholeAuditLog', 'showVerification', 'traceMessages'],
    ...['verifyBackup', 'verifyEvidence', 'showSourceStatus'],
  ],
  'whoever looks at a person, or at a reason, has an audit entry before': [
    ...['showRecord', 'listProtectedPersons', 'auditPerson', 'reportAccess', 'makeEvidence', 'trySearch'],
    ...['showSubscription', 'showProposal', 'listEmergencies', 'listSourceRejects'],
  ],
  'it takes access away, or deletes what nothing holds': [
    ...['disableParticipant', 'removeParticipant', 'removeParticipantHost', 'revokeParticipantKey'],
    ...['revokeGrant', 'revokeOperator', 'endSessions', 'removeConsentAuthority', 'withdrawConsent', 'revokeConsents'],
    ...['removePurpose', 'removeRegistry', 'removeAttribute', 'removeIdentifierType', 'pruneStoredData'],
    ...['cancelSubscription', 'cancelDeliveries', 'revokeOwnKey'],
  ],
  'it protects': ['protectPerson', 'addHold', 'rotateOwnKeys', 'rotateMasterKey', 'makeBackup'],
  'it is what a registry knows, and not who may see it': [
    ...['publishEvent', 'importRecords', 'deleteRecords', 'mergeRecords', 'unmergeRecords', 'retryOutbox'],
    'compareSource',
  ],
  'nothing is permitted by it until a grant names it': ['addPurpose'],
  'how a registry is searched: what a grant permits counts as before': [
    ...[
      'addAttribute',
      'indexAttribute',
      'applyIndexes',
      'addIdentifierType',
      'changeIdentifierType',
      'beginIndexBuild',
      'stopIndexBuild',
    ],
  ],
  'what is sent is what a grant in force permits': [
    ...['resumeSubscription', 'retryDeliveries', 'testSubscription', 'testCallback', 'checkParticipant'],
    ...['releaseRestored', 'replayOwnDeliveries'],
  ],
  'it shows a participant what is its own, and no person': [
    ...['makePartnerLink', 'signPartnerOut', 'showOwnParticipant', 'showChecklist', 'listOwnGrants', 'listExampleSearches'],
    ...['listOwnSubscriptions', 'listOwnDeliveries', 'showOwnDelivery'],
  ],
  'how much may be asked at once, and no access': [...['changeParticipantSubscriptions', 'changeParticipantLimits']],
  'it writes about audit entries, and not in them': ['beginVerification', 'stopVerification', 'reviewEmergency'],
  'it is the decision of the second operator': ['approveProposal', 'declineProposal'],
  'where acts wait, an operator makes it for himself alone': ['makeSignInLink'],
  'it needs the owner of the database, whom no approval stops': [...['migrateDatabase', 'restoreDatabase', 'adoptRestored']],
}

test('every other admin function says why it does not wait', () => {
  const others = [...FUNCTIONS].flatMap(([name, { act }]) => (act === null || act.approval === 'never' ? [name] : []))
  expect(Object.values(ALONE).flat().toSorted()).toEqual(others.toSorted())
})

test('every call of the admin API is an admin function', () => {
  const inputs = new Set([...FUNCTIONS.values()].map((known) => 'input' in known && known.input))
  expect(ADMIN_ROUTES.filter(({ input }) => !inputs.has(input)).map(({ name }) => name)).toEqual([])
})

test('who may do an act by a call may decide about it', () => {
  const acts = new Map(APPROVABLE_ACTS.map(({ act }) => [act.name, act]))
  const others = ADMIN_ROUTES.flatMap(({ name, role, approval }) => {
    const act = approval === undefined ? undefined : acts.get(approval)
    return act === undefined || hasRole({ roles: [act.role ?? 'read'] }, role) ? [] : [name]
  })
  expect(others).toEqual([])
})

test('members that may be personal data, and reasons in free text, are confidential in every act', () => {
  const open = [...FUNCTIONS].flatMap(([name, known]) => {
    const act = APPROVABLE_ACTS.find((row) => row.act.name === known.act?.name)?.act
    if (act === undefined || !('input' in known)) return []
    const { properties = {} } = known.input as { properties?: Readonly<Record<string, { 'x-personal-data'?: true }>> }
    return Object.entries(properties)
      .filter(([member, schema]) => member === 'reason' || schema['x-personal-data'] === true)
      .filter(([member]) => !act.confidential.includes(member))
      .map(([member]) => `${name} ${member}`)
  })
  expect(open).toEqual([])
})
