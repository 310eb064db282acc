import { useQuery } from "@tanstack/react-query";
import { Link } from "react-router";
import { api, told } from "../../api/client";
import { Control, FieldMessages } from "../../components/field-errors";
import { Fold } from "../../components/fold";
import { type Additions, packagesOf, secretOf, variablesOf } from "./additions";

interface AdditionsFormProps {
  component: string;
  additions: Additions;
  onChange: (additions: Additions) => void;
}

/** Fields for packages, variables, secrets and a repository, which every entry with a component of its own can take. */
export function AdditionsForm({ component, additions, onChange }: AdditionsFormProps) {
  const { data } = useQuery({
    queryKey: ["secrets"],
    queryFn: () => told(api.GET("/api/v1/secrets")),
  });
  // A name that an address brings stays in sight, so that it can be taken off.
  const asked = additions.secrets.map(secretOf);
  const chosen = [...asked.map((one) => one.name), ...(additions.gitSecret ? [additions.gitSecret] : [])];
  const names = [...new Set([...(data?.secrets ?? []).map((one) => one.name), ...chosen])].sort();
  return (
    <>
      <Lines
        field="packages"
        title="Packages"
        text={additions.packages}
        count={packagesOf(additions.packages).length}
        placeholder={"pandas==2.2.3\nlightgbm>=4"}
        hint="Python packages to install first, one in each line."
        onChange={(packages) => onChange({ ...additions, packages })}
      />
      <Lines
        field="variables"
        title="Variables"
        text={additions.variables}
        count={Object.keys(variablesOf(additions.variables)).length}
        placeholder="MODE=full"
        hint="Environment variables, NAME=VALUE in each line. Others may see them: put passwords into secrets."
        onChange={(variables) => onChange({ ...additions, variables })}
      />
      <Fold
        title={counted("Secrets", additions.secrets.length)}
        filled={additions.secrets.length > 0}
        fields={["secrets"]}
      >
        <Control field="secrets">
          <fieldset className="tags">
            <legend className="sr">Secrets for {component}</legend>
            {names.map((name) => (
              <SecretField
                key={name}
                name={name}
                asked={asked.find((one) => one.name === name)}
                onChange={(text) =>
                  onChange({
                    ...additions,
                    secrets: [
                      ...additions.secrets.filter((one) => secretOf(one).name !== name),
                      ...(text === null ? [] : [text]),
                    ],
                  })
                }
              />
            ))}
          </fieldset>
        </Control>
        <FieldMessages field="secrets" />
        <p className="faint">
          {component === "main" ? "The program" : component} finds each as a file of its name below{" "}
          <code>$ZOE_SECRETS</code>, or as the variable that you name.{" "}
          {names.length === 0 && "There are none yet. "}
          <Link to="/account">Store a secret</Link>
        </p>
      </Fold>
      <Fold title="Git repository" filled={additions.git !== ""} fields={["sources"]}>
        <Repository additions={additions} names={names} onChange={onChange} />
      </Fold>
    </>
  );
}

interface LinesProps {
  field: string;
  title: string;
  text: string;
  count: number;
  placeholder: string;
  hint: string;
  onChange: (text: string) => void;
}

function Lines({ field, title, text, count, placeholder, hint, onChange }: LinesProps) {
  return (
    <Fold title={counted(title, count)} filled={text !== ""} fields={[field]}>
      <Control field={field}>
        <textarea
          aria-label={`${title}, one in each line`}
          className="wide mono"
          rows={4}
          maxLength={16_384}
          spellCheck={false}
          placeholder={placeholder}
          value={text}
          onChange={(e) => onChange(e.target.value)}
        />
      </Control>
      <FieldMessages field={field} />
      <p className="faint">{hint}</p>
    </Fold>
  );
}

function counted(title: string, count: number): string {
  return count > 0 ? `${title} (${count})` : title;
}

interface SecretFieldProps {
  name: string;
  asked: { name: string; variable?: string } | undefined;
  /** Null: it is not asked for. */
  onChange: (text: string | null) => void;
}

function SecretField({ name, asked, onChange }: SecretFieldProps) {
  return (
    <span className="row">
      <label>
        <input
          type="checkbox"
          checked={asked !== undefined}
          onChange={(e) => onChange(e.target.checked ? name : null)}
        />{" "}
        {name}
      </label>
      {asked && (
        <input
          aria-label={`Variable for ${name}`}
          placeholder="as a file"
          maxLength={255}
          size={14}
          value={asked.variable ?? ""}
          onChange={(e) => onChange(e.target.value === "" ? name : `${name}=${e.target.value}`)}
        />
      )}
    </span>
  );
}

interface RepositoryProps {
  additions: Additions;
  names: string[];
  onChange: (additions: Additions) => void;
}

function Repository({ additions, names, onChange }: RepositoryProps) {
  return (
    <div className="stacked">
      <p className="faint">It is cloned into your workspace before the start.</p>
      <label>
        Address
        <Control field="sources">
          <input
            value={additions.git}
            placeholder="https://example.org/team/project.git"
            maxLength={1024}
            onChange={(e) => onChange({ ...additions, git: e.target.value })}
          />
        </Control>
      </label>
      <FieldMessages field="sources" />
      <label>
        Branch, tag or commit
        <input
          value={additions.ref}
          maxLength={255}
          onChange={(e) => onChange({ ...additions, ref: e.target.value })}
        />
      </label>
      <label>
        Directory in your workspace
        <input
          value={additions.into}
          placeholder="the repository's name"
          maxLength={255}
          onChange={(e) => onChange({ ...additions, into: e.target.value })}
        />
      </label>
      <div>
        <label htmlFor="git-secret">Secret that opens it</label>
        <select
          id="git-secret"
          value={additions.gitSecret}
          onChange={(e) => onChange({ ...additions, gitSecret: e.target.value })}
        >
          <option value="">none</option>
          {names.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </div>
    </div>
  );
}
