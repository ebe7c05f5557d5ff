import numpy as np

dtype = [("name", "U10"), ("age", "i4"), ("salary", "f8")]
staff = np.array(
    [("Alice", 34, 5200.0), ("Bob", 45, 6100.5), ("Carla", 29, 4800.0), ("Dmitri", 51, 7000.0)],
    dtype=dtype,
)
print(staff["name"])
print("mean age:", staff["age"].mean())
by_salary = np.sort(staff, order="salary")[::-1]
for row in by_salary:
    print(f"{row['name']:<8} {row['age']:3d} {row['salary']:10.2f}")
seniors = staff[staff["age"] > 40]
print(len(seniors), "seniors earn", seniors["salary"].sum())
staff["salary"] *= 1.1
print(staff["salary"].round(2))
