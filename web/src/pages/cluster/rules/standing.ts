import type { Schemas } from "../../../api/client";

type Rule = Schemas["StorageRuleView"];
type Controller = Schemas["StorageControllerView"];
type Metric = Schemas["StorageMetricView"];

/** Whether a rule is carried out now, or why it is not. Rules without metrics have no controller. */
export function standingOf(rule: Rule, controllers: Controller[], metrics: Metric[]): string {
  if (rule.mode === "off") return "off";
  const controller = controllers.find((one) => one.name === `rule-${rule.id}`);
  const now = controller && conditionOf(rule, controller, metrics);
  if (rule.mode === "dry") return `dry run, so no proxy has it${now ? `; it would be ${now}` : ""}`;
  if (!rule.enforced) return "no: proxies do not have all of its filters";
  return now ?? "yes";
}

/** What the condition of a rule with metrics comes to: on, off, or waiting for a value. */
function conditionOf(rule: Rule, controller: Controller, metrics: Metric[]): string {
  if (controller.active) return "on now";
  const unknown = metrics.filter((one) => one.rules.includes(rule.id) && !(one.name in rule.metrics));
  if (unknown.length > 0)
    return `off now: it waits for ${unknown.map((one) => `${one.name} (${whyUnknown(one)})`).join(", ")}`;
  if (Object.keys(rule.metrics).length === 0) return "off now: it waits for its metric, which is not known";
  return "off now: its condition does not hold";
}

function whyUnknown(metric: Metric): string {
  if (metric.mode === "off") return "which is off";
  if (metric.mode === "dry") return "which is in a dry run";
  if (metric.source === "none") return "which nothing measures";
  if (metric.problem) return metric.problem;
  return metric.values_count > 0 ? "no value for the rule's target" : "not measured yet";
}
