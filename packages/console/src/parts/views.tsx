/** The views of a page, such as tabs. Each has its own address, for links and for the back button of the browser. */

import type { OperatorRole } from '@rollcall/core/model/operator'
import type { ComponentType } from 'react'
import { useLocation, useSearch } from 'wouter'
import { useMay } from '../session/session.ts'
import { filterQueryText, readFilter } from './filters.ts'
import styles from './views.module.css'

export interface View {
  readonly name: string
  readonly title: string
  /** The role that an operator needs to see the view. */
  readonly role: OperatorRole
  readonly content: ComponentType
}

interface ViewsProps {
  /** The meaning of the views, for screen readers. */
  readonly label: string
  /** The first view has no name in the address. Everybody who may open the page may see it. */
  readonly views: readonly [View, ...View[]]
}

export function TabbedViews({ label, views }: ViewsProps) {
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
            href={`#${path}${filterQueryText({ view: at === 0 ? undefined : name })}`}
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
