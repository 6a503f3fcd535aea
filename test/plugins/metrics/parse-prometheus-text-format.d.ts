declare module 'parse-prometheus-text-format' {
  /** Metric families of a text in Prometheus' exposition format. @throws on a line that is none. */
  export default function parsePrometheusTextFormat(text: string): unknown[]
}
