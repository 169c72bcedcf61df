/** The page of the help: documents of docs/ as trees of JSON, which the build of the console makes. */

import { HELP } from 'virtual:help'
import { useQuery } from '@tanstack/react-query'
import { helpAddress } from '../../parts/help-address.ts'
import { PageFrame, Panel } from '../../parts/page.tsx'
import { Empty, Loaded } from '../../parts/states.tsx'
import { useAddressParts } from '../../parts/use-address.ts'
import { HELP_TEXTS } from '../../texts/help.ts'
import { PAGES } from '../../texts/pages.ts'
import { Prose, TableOfContents } from './document.tsx'
import styles from './help.module.css'
import type { HelpContentsRow } from './tree.ts'

export function Page() {
  const { name, anchor } = useAddressParts('name', 'anchor')
  const row = name === '' ? HELP[0] : HELP.find((one) => one.name === name)
  return (
    <PageFrame title={row?.title ?? PAGES.help} lead={row === undefined ? undefined : HELP_TEXTS.lead}>
      <div className={styles.columns}>
        <nav className={styles.documents} aria-label={HELP_TEXTS.documents}>
          <ul>
            {HELP.map((one) => (
              <li key={one.name}>
                <a href={helpAddress(one.name)} aria-current={one === row ? 'page' : undefined}>
                  {one.title}
                </a>
              </li>
            ))}
          </ul>
        </nav>
        <Panel padded>
          {row === undefined ? <Empty title={HELP_TEXTS.unknown} /> : <Content row={row} anchor={anchor || undefined} />}
        </Panel>
      </div>
    </PageFrame>
  )
}

interface ContentProps {
  readonly row: HelpContentsRow
  readonly anchor: string | undefined
}

function Content({ row: { name, load }, anchor }: ContentProps) {
  const query = useQuery({ queryKey: ['help', name], queryFn: load, staleTime: Number.POSITIVE_INFINITY })
  return (
    <Loaded query={query} lines={12}>
      {({ document: { nodes } }) => (
        <>
          <TableOfContents name={name} nodes={nodes} />
          <Prose nodes={nodes} anchor={anchor} />
        </>
      )}
    </Loaded>
  )
}
