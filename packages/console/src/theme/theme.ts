/** The look of Mantine's components: our CSS variables for fonts, sizes and spaces, and the shades of three colours. */
import { type CSSVariablesResolver, createTheme } from '@mantine/core'

export const THEME = createTheme({
  primaryColor: 'accent',
  primaryShade: { light: 6, dark: 8 },
  colors: {
    accent: [
      ...(['#eaf3fc', '#d3e5f8', '#a9cdf1', '#7db8f5', '#4d9ae6'] as const),
      ...(['#2680d8', '#0b5cad', '#094f96', '#1e6ec0', '#1a60a8'] as const),
    ],
    red: [
      ...(['#fce9e7', '#f8d0cc', '#f0a69f', '#ff9d94', '#d9534a'] as const),
      ...(['#c23a31', '#a8231b', '#911d16', '#b93a31', '#a5322a'] as const),
    ],
    dark: [
      ...(['#e6ebf1', '#c5ced8', '#9dabbb', '#6d7a89', '#46525f'] as const),
      ...(['#2b3540', '#1d2530', '#161c24', '#0e1319', '#0a0e13'] as const),
    ],
  },
  fontFamily: 'var(--sans)',
  fontFamilyMonospace: 'var(--mono)',
  fontSizes: { xs: 'var(--type-xs)', sm: 'var(--type-md)', md: 'var(--type-md)', lg: 'var(--type-lg)', xl: 'var(--type-xl)' },
  spacing: { xs: 'var(--space-1)', sm: 'var(--space-2)', md: 'var(--space-3)', lg: 'var(--space-4)', xl: 'var(--space-5)' },
  defaultRadius: 'var(--radius)',
  respectReducedMotion: true,
  components: {
    Modal: {
      defaultProps: { centered: true, shadow: 'none', overlayProps: { backgroundOpacity: 0.45 } },
      styles: { title: { fontSize: 'var(--type-lg)', fontWeight: 600 } },
    },
    Drawer: { styles: { title: { fontSize: 'var(--type-lg)', fontWeight: 600 } } },
  },
})

const COLOR_VARIABLES = {
  '--mantine-color-text': 'var(--text)',
  '--mantine-color-body': 'var(--surface)',
  '--mantine-color-dimmed': 'var(--muted)',
  '--mantine-color-placeholder': 'var(--muted)',
  '--mantine-color-anchor': 'var(--accent)',
  '--mantine-color-error': 'var(--bad)',
  '--mantine-color-default-border': 'var(--line-strong)',
}

export const CSS_VARIABLES: CSSVariablesResolver = () => ({ variables: {}, light: COLOR_VARIABLES, dark: COLOR_VARIABLES })
