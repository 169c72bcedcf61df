/** The settings of the node, what doctor finds of them, and who may operate it. */
import { useSearch } from 'wouter'
import { readFilter } from '../../parts/filters.ts'
import { PageFrame } from '../../parts/page.tsx'
import { Views } from '../../parts/views.tsx'
import { useMay } from '../../session/session.ts'
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

export function Page() {
  const may = useMay()
  const views = VIEWS.filter(({ role }) => may(role))
  const { view } = readFilter(useSearch(), ['view'])
  const { name, content: Content } = views.find((one) => one.name === view) ?? VIEWS[0]
  return (
    <PageFrame title={PAGES.settings} lead={SETTINGS.lead}>
      <Views label={SETTINGS.views} views={views} current={name} />
      <Content />
    </PageFrame>
  )
}
