/** The page of the audit log: who asked for whose data. */
import { PageFrame } from '../../parts/page.tsx'
import { TabbedViews } from '../../parts/views.tsx'
import { AUDIT_LOG } from '../../texts/audit-log.ts'
import { PAGES } from '../../texts/pages.ts'
import { Emergencies } from './emergencies.tsx'
import { EntryList } from './entry-list.tsx'
import { EntriesOfPerson } from './person.tsx'
import { Verification } from './verification.tsx'

const VIEWS = [
  { name: 'entries', title: AUDIT_LOG.view.entries, role: 'read', content: EntryList },
  { name: 'person', title: AUDIT_LOG.view.person, role: 'audit', content: EntriesOfPerson },
  { name: 'emergencies', title: AUDIT_LOG.view.emergencies, role: 'audit', content: Emergencies },
  { name: 'verify', title: AUDIT_LOG.view.verify, role: 'audit', content: Verification },
] as const

export const Page = () => (
  <PageFrame title={PAGES.auditLog} lead={AUDIT_LOG.lead}>
    <TabbedViews label={AUDIT_LOG.views} views={VIEWS} />
  </PageFrame>
)
