/** The views of a page: each has an address of its own, so that a link leads to it and the browser's way back works. */
import { useLocation } from 'wouter'
import { filterText } from './filters.ts'
import styles from './views.module.css'

export interface View {
  readonly name: string
  readonly title: string
}

interface ViewsProps {
  /** What they are, for those who do not see them. */
  readonly label: string
  /** The first one needs no name in the address. */
  readonly views: readonly View[]
  readonly current: string
}

export function Views({ label, views, current }: ViewsProps) {
  const [path] = useLocation()
  return (
    <nav className={styles.views} aria-label={label}>
      {views.map(({ name, title }, at) => (
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
  )
}
