# Gradebook exercise
import numpy as np

students = ["Ana", "Ben", "Chloé", "Dmitri"]
subjects = ["math", "physics", "art"]
grades = np.array([[88, 92.5, 79], [75, 68, 95], [91, np.nan, 85], [60, 55, 70]])


def letter(score):
    if np.isnan(score):
        return "-"
    for limit, mark in [(90, "A"), (80, "B"), (70, "C")]:
        if score >= limit:
            return mark
    return "F"


header = "{:<10}".format("name") + "".join("{:>9}".format(s) for s in subjects) + "{:>8}".format("mean")
print(header)
print("-" * len(header))
for name, row in zip(students, grades):
    print("{:<10}".format(name) + "".join("{:>9.1f}".format(g) for g in row) + "{:>8.2f}".format(np.nanmean(row)))
means = np.nanmean(grades, axis=0)
print("class means:", dict(zip(subjects, means.round(2).tolist())))
ranking = np.argsort(-np.nanmean(grades, axis=1))
print("ranking:", ", ".join(students[i] for i in ranking))
curved = np.where(np.isnan(grades), 0, np.clip(grades + 5, 0, 100))
print(curved)
report = {s: [letter(g) for g in row] for s, row in zip(students, grades)}
for s in students:
    print(s, report[s])
print("missing:", [(students[i], subjects[j]) for i, j in zip(*np.where(np.isnan(grades)))])
