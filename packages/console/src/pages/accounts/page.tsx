/** Who looked: the accounts of access. */
import { PageFrame } from '../../parts/page.tsx'
import { Views } from '../../parts/views.tsx'
import { ACCOUNTS } from '../../texts/accounts.ts'
import { PAGES } from '../../texts/pages.ts'
import { AccountList } from './account-list.tsx'
import { Emergencies } from './emergencies.tsx'
import { AccountsOfPerson } from './person.tsx'
import { Verification } from './verification.tsx'

const VIEWS = [
  { name: 'accounts', title: ACCOUNTS.view.accounts, role: 'read', content: AccountList },
  { name: 'person', title: ACCOUNTS.view.person, role: 'audit', content: AccountsOfPerson },
  { name: 'emergencies', title: ACCOUNTS.view.emergencies, role: 'audit', content: Emergencies },
  { name: 'verify', title: ACCOUNTS.view.verify, role: 'audit', content: Verification },
] as const

export const Page = () => (
  <PageFrame title={PAGES.accounts} lead={ACCOUNTS.lead}>
    <Views label={ACCOUNTS.views} views={VIEWS} />
  </PageFrame>
)
