import type { NavigationRow } from '../navigation.ts'
import { SHELL } from '../texts/shell.ts'
import styles from './shell.module.css'

interface MenuProps {
  readonly rows: readonly NavigationRow[]
  readonly path: string
}

const GROUPS = Object.entries(SHELL.groups) as [keyof typeof SHELL.groups, string][]

/** The menu: links to the pages that the operator may open, by group. */
export function Menu({ rows, path }: MenuProps) {
  return (
    <nav className={styles.menu} aria-label={SHELL.navigation}>
      {GROUPS.map(([group, title]) => {
        const links = rows.filter(({ menu }) => menu?.group === group)
        if (links.length === 0) return null
        return (
          <div key={group}>
            <p className={styles.group} id={`menu-${group}`}>
              {title}
            </p>
            <ul className={styles.links} aria-labelledby={`menu-${group}`}>
              {links.map((row) => (
                <MenuLink key={row.path} row={row} path={path} />
              ))}
            </ul>
          </div>
        )
      })}
    </nav>
  )
}

function MenuLink({ row, path }: { readonly row: NavigationRow; readonly path: string }) {
  const { menu, title } = row
  if (menu === null) return null
  const inside = row.path !== '/' && path.startsWith(`${row.path}/`)
  const current = path === row.path ? 'page' : inside ? 'true' : undefined
  return (
    <li>
      <a className={styles.link} href={`#${row.path}`} aria-current={current}>
        <menu.icon size={18} stroke={1.6} aria-hidden />
        {title}
      </a>
    </li>
  )
}
