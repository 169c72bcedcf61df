/** The frame of a page: title, actions and content. The title gets the focus, except on the first page that is opened. */
import { type ReactNode, useEffect, useRef } from 'react'
import { COMMON } from '../texts/common.ts'
import styles from './page.module.css'

interface PageProps {
  readonly title: string
  /** A sentence on the purpose of the page, or the name or id of the thing that the page shows. */
  readonly lead?: ReactNode
  /** A link to the page above this one, such as the list. */
  readonly above?: ReactNode
  readonly actions?: ReactNode
  readonly children: ReactNode
}

/** True until the first page was shown, which does not move the focus. Each later page sets the focus on its title. */
let isFirst = true

export function PageFrame({ title, lead, above, actions, children }: PageProps) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    document.title = `${title} · ${COMMON.product}`
  }, [title])
  useEffect(() => {
    if (!isFirst) heading.current?.focus()
    isFirst = false
  }, [])
  return (
    <div className={styles.page}>
      <header className={styles.head}>
        <div className={styles.words}>
          {above !== undefined && <div className={styles.above}>{above}</div>}
          <h1 ref={heading} tabIndex={-1} className={styles.title}>
            {title}
          </h1>
          {lead !== undefined && <p className={styles.lead}>{lead}</p>}
        </div>
        {actions !== undefined && <div className={styles.actions}>{actions}</div>}
      </header>
      {children}
    </div>
  )
}

interface SectionProps {
  readonly title: string
  readonly lead?: ReactNode
  readonly actions?: ReactNode
  readonly children: ReactNode
}

/** A part of a page with a title of its own. */
export function Section({ title, lead, actions, children }: SectionProps) {
  return (
    <section className={styles.section} aria-label={title}>
      <div className={styles.sectionHead}>
        <div>
          <h2 className={styles.sectionTitle}>{title}</h2>
          {lead !== undefined && <p className={styles.sectionLead}>{lead}</p>}
        </div>
        {actions !== undefined && <div className={styles.actions}>{actions}</div>}
      </div>
      {children}
    </section>
  )
}

/** A surface for content. `padded` adds space around content that is no table. */
export function Panel({ padded = false, children }: { readonly padded?: boolean; readonly children: ReactNode }) {
  return (
    <div className={styles.panel} data-padded={padded || undefined}>
      {children}
    </div>
  )
}

interface FactListProps {
  readonly rows: readonly (readonly [name: string, value: ReactNode])[]
}

/** A list of names and values, one below the other. Values that are null or undefined are left out. */
export function FactList({ rows }: FactListProps) {
  const shown = rows.filter(([, value]) => value !== null && value !== undefined)
  return (
    <dl className={styles.facts}>
      {shown.map(([name, value]) => (
        <div key={name} className={styles.fact}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}

/** A `FactList` on a surface of its own. */
export const FactPanel = ({ rows }: FactListProps) => (
  <Panel padded>
    <FactList rows={rows} />
  </Panel>
)
