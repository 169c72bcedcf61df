/** Answers a person who asks who has seen their data: a page in plain words, and the same as JSON for programs. */

import Type from 'typebox'
import { defineAct } from '../act.ts'
import type { HasVault } from '../deps.ts'
import { closed, instant, isoTime, markPersonal, text } from '../members.ts'
import { type AccessReport, AccessReportResult, type ReportedDataAccess, renderAccessPage } from './access-page.ts'
import { type AccessesOfMonth, plainWordsOfPath } from './accesses-by-month.ts'
import { findPersonDataAccesses, type PersonAudit } from './person-accesses.ts'

/** Reports the accesses to a person's data. Staff of the registry are not named: the person can ask the registry who it was. */
export const reportAccess = defineAct(
  {
    name: 'audit person',
    approval: 'never',
    entry: 'within',
    input: closed({
      type: text('Type of an identifier, such as UIN.'),
      value: markPersonal(text('Its value.')),
      from: Type.Optional(instant('Only what was at this time or later.')),
      to: Type.Optional(instant('Only what was before this time.')),
    }),
    result: closed({ html: markPersonal(text('The report as a page.')), report: markPersonal(AccessReportResult) }),
  },
  async (
    deps: HasVault & { readonly now?: () => Date },
    { type, value, from, to },
    enter,
  ): Promise<{ readonly html: string; readonly report: AccessReport }> => {
    const audit = await findPersonDataAccesses(deps, { type, value, from, to }, enter)
    const { seen, written, asked } = audit.months
    const months = { seen: withoutEntryIds(seen), written: withoutEntryIds(written), asked: withoutEntryIds(asked) }
    const names = new Map([...seen, ...written, ...asked].map(({ sender_id, who }) => [sender_id, who]))
    const plainAccesses = (accesses: PersonAudit['seen']) =>
      accesses.map((access) => toReportedDataAccess(access, names.get(access.participant) ?? ''))
    const { now = () => new Date() } = deps
    const report = {
      made_at: isoTime(now()),
      from: from ?? null,
      to: to ?? null,
      identifier: { type, value },
      seen: plainAccesses(audit.seen),
      written: plainAccesses(audit.written),
      asked: plainAccesses(audit.asked),
      months,
    }
    return { html: renderAccessPage(report), report }
  },
)

type PersonDataAccess = PersonAudit['seen'][number]

/** Removes the ids of audit entries from the report, because they mean nothing to the person. */
const withoutEntryIds = (months: readonly AccessesOfMonth[]): AccessReport['months']['seen'] =>
  months.map(({ entries: _, ...month }) => month)

const toReportedDataAccess = (access: PersonDataAccess, who: string): ReportedDataAccess => ({
  at: access.at,
  who,
  sender_id: access.participant,
  registry: access.registry,
  what: `${ACCESS_WORDS[access.kind]}${access.again ? ' (an earlier answer was given again)' : ''}${access.unsent ? ' (it was not sent: no data left)' : ''}`,
  basis: basisText(access),
  purpose: access.purpose,
  data: [...new Set(Object.values(access.shown).flat().flatMap(dataNameOfPath))].sort(),
})

const ACCESS_WORDS: Readonly<Record<PersonDataAccess['kind'], string>> = {
  answer: 'A question was answered',
  acknowledgement: 'A question was accepted',
  callback: 'A question was answered later',
  unsent: 'A message that was not sent',
  notification: 'An event was reported',
  refusal: 'A question was refused',
  operator: 'The data were looked at, or changed',
}

const BASIS_WORDS: Readonly<Record<string, string>> = {
  law: 'A law, or an agreement that follows from it',
  consent: 'A consent, as the institution states',
  authorize: 'An authority, as the institution states',
}

function basisText({ basis, consent, emergency, participant }: PersonDataAccess): string {
  if (participant === null) return 'The work of the registry'
  if (emergency) return 'An emergency, as the institution states'
  if (consent?.form === 'signed') return 'A consent that was signed'
  return BASIS_WORDS[basis ?? ''] ?? 'Not known'
}

/** The plain words for a path of a record, as a list of one text; an empty list when only programs read the path. */
function dataNameOfPath(path: string): readonly string[] {
  const words = plainWordsOfPath(path)
  return words === null ? [] : [words.join(' / ')]
}
