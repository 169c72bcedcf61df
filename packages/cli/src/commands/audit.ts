/** `rollcall audit`: shows and verifies the audit log, for operators and for persons who ask. */

import { adminCommand } from '../admin-command.ts'
import { ENTRY_COLUMNS, emergencyText, entryRows } from '../audit-text.ts'
import { type CommandGroup, lazyCommand } from '../command-tree.ts'
import { tableFormatter } from '../output.ts'

const loadAuditActs = () => import('@rollcall/admin/audit/list')

export const COMMAND_TREE: CommandGroup = {
  about: 'who asked for data of people, and who saw it; for all registries, also beside a running server',
  commands: {
    person: lazyCommand('list who has seen, written, or asked about the data of a person', () => import('./audit-person.ts')),
    list: adminCommand(async () => (await loadAuditActs()).listAuditEntries, {
      about: 'list the newest entries',
      options: { namespace: '--registry <namespace>', limit: { default: 50 } },
      examples: ['--kind refusal --from 2026-07-01'],
      text: (found) => tableFormatter(`id kind ${ENTRY_COLUMNS.join(' ')}`, 'no audit entry')(entryRows(found)),
    }),
    emergencies: adminCommand(async () => (await loadAuditActs()).listEmergencies, {
      about: 'list the emergencies that nobody has reviewed, the oldest first, with their reasons',
      options: { reviewed: { help: 'those that somebody has reviewed' }, limit: { default: 50 } },
      examples: [''],
      text: (found, { reviewed }) => emergencyText(found, reviewed === true),
    }),
    review: adminCommand(async () => (await loadAuditActs()).reviewEmergency, {
      about: 'say that an emergency was reviewed, and what was found',
      args: 'id',
      options: { note: { help: 'what was found; it is stored encrypted' } },
      examples: ["4f0c2b7e-0d52-4c6e-9a54-30c1f2d9a002.17 --note 'Checked with the ward'"],
      text: ({ reviewed_by, at }) => `reviewed by ${reviewed_by} at ${at}`,
    }),
    evidence: lazyCommand(
      'write the audit entries of a message, so that anyone can verify it without the database',
      () => import('./audit-evidence.ts'),
    ),
    check: lazyCommand('verify evidence, without a database', () => import('./audit-check.ts')),
    verify: lazyCommand(
      'verify that no entry of the audit log was changed, removed or added; changes nothing',
      () => import('./audit-verify.ts'),
    ),
    keys: adminCommand(async () => (await import('@rollcall/admin/audit/verify')).listAuditSigningKeys, {
      about: 'list the public keys that sign the audit log, with their fingerprints',
      examples: [''],
      text: tableFormatter(
        'fingerprint public_key created_at retired_at',
        'no keys yet; the first entry makes one',
        ({ public_key, ...key }) => ({ ...key, public_key: public_key.x }),
      ),
    }),
  },
}
