"""Values to Plotly figures and graph data: pure, and ignorant of Streamlit."""
