import { findings } from '@rollcall/admin/doctor/finding'
import { expect, test } from 'vitest'
import { MACHINE_CHECKS } from './machine-checks.ts'

const NOW = Date.parse('2026-03-01T12:00:00Z')
const hours = (count: number): number => NOW - count * 3_600_000
const until = (days: number): string => new Date(NOW + days * 86_400_000).toUTCString()

test.each([
  [hours(12), until(60), 'ok', 'the last backup is 12 hours old', 'ok', 'the certificate is valid for 60 days more'],
  [null, until(13), 'weak', 'there is no backup in', 'weak', 'the certificate ends in 13 days: renew it'],
  [hours(37), until(6), 'broken', 'the last backup is 37 hours old', 'broken', 'the certificate ends in 6 days'],
  [
    hours(1),
    new Error('refused'),
    'ok',
    '',
    'broken',
    'nobody serves a certificate under ROLLCALL_PUBLIC_URL: refused',
  ],
])('backup %o, certificate %o', (backup, certificate, backupState, backupAdvice, state, advice) => {
  const found = findings(MACHINE_CHECKS, { now: NOW, backup, certificate })
  expect(found.map((row) => row.state)).toEqual([backupState, state])
  expect(found[0]?.advice).toContain(backupAdvice)
  expect(found[1]?.advice).toContain(advice)
})
