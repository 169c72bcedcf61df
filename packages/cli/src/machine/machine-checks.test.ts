import { judgeFacts } from '@rollcall/admin/doctor/finding'
import { expect, test } from 'vitest'
import { MACHINE_CHECKS } from './machine-checks.ts'

const NOW = Date.parse('2026-03-01T12:00:00Z')
const hours = (count: number): number => NOW - count * 3_600_000
const until = (days: number): string => new Date(NOW + days * 86_400_000).toUTCString()

test.each([
  [hours(12), until(60), 'ok', 'the last backup is 12 hours old', 'ok', 'the certificate is valid for 60 days more'],
  [null, until(13), 'weak', 'there is no backup in', 'weak', 'the certificate ends in 13 days: renew it'],
  [hours(37), until(6), 'broken', 'the last backup is 37 hours old', 'broken', 'the certificate ends in 6 days'],
  [hours(1), new Error('refused'), 'ok', '', 'broken', 'nobody serves a certificate under ROLLCALL_PUBLIC_URL: refused'],
])('backup %o, certificate %o', (backup, certificate, backupState, backupAdvice, state, advice) => {
  const found = judgeFacts(MACHINE_CHECKS, { now: NOW, backup, copies: 'later', copied: null, certificate })
  expect(found.map((row) => row.state)).toEqual([backupState, 'weak', state])
  expect(found[0]?.advice).toContain(backupAdvice)
  expect(found[2]?.advice).toContain(advice)
})

const VAULT = 'copies@vault.example.org:rollcall'

test.each([
  ['later', null, 'weak', 'backups and the journal are on this machine alone, and are lost with it'],
  [VAULT, null, 'broken', `nothing has been copied to ${VAULT} yet: journalctl --unit rollcall-copy says why`],
  [VAULT, hours(24), 'ok', `backups and the journal were copied to ${VAULT} 24 hours ago`],
  [VAULT, hours(25), 'broken', `were copied to ${VAULT} 25 hours ago: journalctl --unit rollcall-copy says why`],
])('copies to %s, the last at %o', (copies, copied, state, advice) => {
  const [, found] = judgeFacts(MACHINE_CHECKS, { now: NOW, backup: null, copies, copied, certificate: until(60) })
  expect(found).toMatchObject({ check: 'copy_age', state, advice: expect.stringContaining(advice) })
})
