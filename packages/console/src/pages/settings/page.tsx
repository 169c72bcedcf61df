/** The page of the settings of a node, doctor's findings, and the operators. */
import { PageFrame } from '../../parts/page.tsx'
import { TabbedViews } from '../../parts/views.tsx'
import { PAGES } from '../../texts/pages.ts'
import { SETTINGS } from '../../texts/settings.ts'
import { Findings } from './findings.tsx'
import { Operators } from './operators.tsx'
import { Sessions } from './sessions.tsx'
import { SettingList } from './setting-list.tsx'

const OperatorsAndSessions = () => (
  <>
    <Operators />
    <Sessions />
  </>
)

const VIEWS = [
  { name: 'settings', title: SETTINGS.view.settings, role: 'read', content: SettingList },
  { name: 'findings', title: SETTINGS.view.findings, role: 'read', content: Findings },
  { name: 'operators', title: SETTINGS.view.operators, role: 'own', content: OperatorsAndSessions },
] as const

export const Page = () => (
  <PageFrame title={PAGES.settings} lead={SETTINGS.lead}>
    <TabbedViews label={SETTINGS.views} views={VIEWS} />
  </PageFrame>
)
