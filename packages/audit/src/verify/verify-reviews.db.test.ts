/** Reviews of emergencies: what is changed in them is found, and reviews of earlier versions still verify. */
import { expect, test } from 'vitest'
import { vaultOf } from '../../../settings/test/audit-log.ts'
import { places, review, tamper, twoChains, verified } from '../../../settings/test/tampering.ts'
import { encryptConfidentialDetails } from '../confidential.ts'
import { loadAuditKeys } from '../keys.ts'
import { verifyAuditLog } from './verify.ts'

test.each([
  ['who reviewed it', `reviewed_by = 'director'`],
  ['when', `at = at + interval '1 microsecond'`],
  ['which entry', `sequence = sequence + 1`],
  ['what was found', `sealed = overlay(sealed placing '__' from length(sealed) - 1)`],
])('a review of which was changed: %s', async (_, change) => {
  const { on, chain } = await twoChains()
  await review(on, chain, 3)
  const { report } = await verified(on)
  expect(report.faults).toEqual([])
  expect(report.counts).toMatchObject({ reviews: 1, unsealed_reviews: 0 })
  await tamper(on, `update account_review set ${change}`)
  expect(await places(on)).toEqual([expect.stringMatching(`^review_changed ${chain} [34] review 1$`)])
})

test('a review that a stranger inserts', async () => {
  const { on, chain } = await twoChains()
  await tamper(on, `insert into account_review (chain, sequence, reviewed_by, sealed) values ('${chain}', 3, 'director', 'x')`)
  expect(await places(on)).toEqual([`review_changed ${chain} 3 review 1`])
  const { report } = await verifyAuditLog({ db: on.db, vault: null, witness: null })
  expect(report).toMatchObject({ faults: [], counts: { reviews: 1 } })
})

test('a review of an earlier version verifies, and is counted: its seal has the finding alone', async () => {
  const { on, chain } = await twoChains()
  const { confidential } = await loadAuditKeys(on.db, await vaultOf(on.db))
  const sealed = encryptConfidentialDetails(confidential, { chain, sequence: 3 }, { finding: 'Checked' })
  await tamper(on, 'insert into account_review (chain, sequence, reviewed_by, sealed) values ($1, 3, $2, $3)', [
    chain,
    'auditor',
    sealed,
  ])
  const { report } = await verified(on)
  expect(report).toMatchObject({ faults: [], counts: { reviews: 1, unsealed_reviews: 1 } })
  await tamper(on, 'update account_review set sequence = 4')
  expect(await places(on)).toEqual([`review_changed ${chain} 4 review 1`])
})
