/** Renews everything that is generated: first the schemas, then the widget. `--check` names stale files. */
import '../../schemas/generate/main.ts'
import '../../plugins/widget/generate/main.ts'
