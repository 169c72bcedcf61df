/** The views of a page: each has an address of its own, so that a link leads to it and the browser's way back works. */

import type { OperatorRole } from '@rollcall/core/model/operator'
import type { ComponentType } from 'react'
import { useLocation, useSearch } from 'wouter'
import { useMay } from '../session/session.ts'
import { filterText, readFilter } from './filters.ts'
import styles from './views.module.css'

export interface View {
  readonly name: string
  readonly title: string
  /** Who may see it. */
  readonly role: OperatorRole
  readonly content: ComponentType
}

interface ViewsProps {
  /** What they are, for those who do not see them. */
  readonly label: string
  /** The first one needs no name in the address, and is for everybody who may open the page. */
  readonly views: readonly [View, ...View[]]
}

export function Views({ label, views }: ViewsProps) {
  const [path] = useLocation()
  const may = useMay()
  const allowed = views.filter(({ role }) => may(role))
  const { view } = readFilter(useSearch(), ['view'])
  const { name: current, content: Content } = allowed.find((one) => one.name === view) ?? views[0]
  return (
    <>
      <nav className={styles.views} aria-label={label}>
        {allowed.map(({ name, title }, at) => (
          <a
            key={name}
            className={styles.view}
            href={`#${path}${filterText({ view: at === 0 ? undefined : name })}`}
            aria-current={name === current ? 'page' : undefined}
          >
            {title}
          </a>
        ))}
      </nav>
      <Content />
    </>
  )
}
